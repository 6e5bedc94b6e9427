/** An answer onto the wire: bytes in memory without a copy, bytes on disk a chunk at a time, as fast as the client takes them. */

import { read } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { type Answer, lengthOf, type Part } from "./answer.js";
import type { Release } from "./release.js";

const CHUNK = 256 * 1024; // bytes read from disk at a time

/** Sends an answer; holds the release's files open while it reads from them. */
export function send(
  release: Release,
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
  log: (line: string) => void,
): void {
  response.writeHead(status, headers);
  if (request.method === "HEAD" || body.length === 0) {
    response.end();
    return;
  }
  // Many small writes in one system call; the bytes themselves are never copied.
  response.cork();
  const inMemory = body.findIndex((part) => !(part instanceof Uint8Array));
  for (const part of inMemory === -1 ? body : body.slice(0, inMemory)) response.write(part);
  if (inMemory === -1) {
    response.end();
    return;
  }
  response.uncork();
  const done = release.hold();
  sendFromDisk(request.socket, response, body.slice(inMemory))
    .catch((error: unknown) => {
      log(`Fault while reading the release: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    })
    .finally(done);
}

const readFile = promisify(read);

async function sendFromDisk(socket: Socket, response: ServerResponse, parts: readonly Part[]): Promise<void> {
  await turnOf(socket, response);
  if (socket.destroyed) return;
  for (const part of parts) {
    for (let sent = 0; sent < lengthOf(part); ) {
      const bytes = part instanceof Uint8Array ? part : await readPart(part, sent);
      sent += bytes.length;
      if (response.destroyed) return;
      if (!response.write(bytes)) await drained(response);
    }
  }
  response.end();
}

/** A client may send hundreds of requests at once: what is read before the answers in front are sent would fill the memory. */
function turnOf(socket: Socket, response: ServerResponse): Promise<void> {
  if (response.socket !== null || socket.destroyed) return Promise.resolve();
  socket.setMaxListeners(0); // one for each request that waits
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("socket", done);
      socket.off("close", done);
      resolve();
    };
    response.on("socket", done);
    socket.on("close", done);
  });
}

async function readPart(
  { file, start, end }: { readonly file: number; readonly start: number; readonly end: number },
  sent: number,
): Promise<Uint8Array> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end - start - sent));
  const { bytesRead } = await readFile(file, chunk, 0, chunk.length, start + sent);
  if (bytesRead === 0) throw new Error("a file of the release became shorter");
  return chunk.subarray(0, bytesRead);
}

/** Resolves when the client took what was written, or went away. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
