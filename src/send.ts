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
  for (const batch of batchesOf(parts)) {
    const bytes = await readBatch(batch);
    if (response.destroyed) return;
    if (!response.write(bytes)) await drained(response);
  }
  response.end();
}

/** Parts in portions of at most CHUNK bytes: a box of many ranges is a few writes. */
function* batchesOf(parts: readonly Part[]): Generator<readonly Part[]> {
  let batch: Part[] = [];
  let left = CHUNK;
  for (const part of parts) {
    for (let taken = 0; taken < lengthOf(part); ) {
      const some = Math.min(left, lengthOf(part) - taken);
      batch.push(slicePart(part, taken, taken + some));
      taken += some;
      left -= some;
      if (left > 0) continue;
      yield batch;
      batch = [];
      left = CHUNK;
    }
  }
  if (batch.length > 0) yield batch;
}

function slicePart(part: Part, from: number, to: number): Part {
  return part instanceof Uint8Array
    ? part.subarray(from, to)
    : { file: part.file, start: part.start + from, end: part.start + to };
}

/** The bytes of a batch, read from all its places at once. */
async function readBatch(batch: readonly Part[]): Promise<Uint8Array> {
  const [only] = batch;
  if (batch.length === 1 && only instanceof Uint8Array) return only;
  const bytes = Buffer.allocUnsafe(batch.reduce((total, part) => total + lengthOf(part), 0));
  let at = 0;
  const reads: Promise<void>[] = [];
  for (const part of batch) {
    const target = bytes.subarray(at, at + lengthOf(part));
    at += target.length;
    if (part instanceof Uint8Array) target.set(part);
    else reads.push(readInto(target, part.file, part.start));
  }
  await Promise.all(reads);
  return bytes;
}

async function readInto(target: Buffer, file: number, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await readFile(file, target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error("a file of the release became shorter");
    done += bytesRead;
  }
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
