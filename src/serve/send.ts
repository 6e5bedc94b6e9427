/** An answer onto the wire: bytes in memory without a copy, bytes on disk a chunk at a time, as fast as the client takes them. */

import { read } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { type Answer, lengthOf, type OpenFile, type Part, problem, type Taken } from "../answer.js";
import type { Release } from "../release/release.js";

const CHUNK = 256 * 1024; // bytes read from disk at a time
const SPARE = 32; // chunks that are used again: new memory for each would cost more than the reading
const spare: Buffer[] = [];

/** Sends an answer; holds the release's files open while it reads from them. */
export function send(
  release: Release,
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  log: (line: string) => void,
): void {
  if (request.method === "HEAD" || answer.body.every((part) => part instanceof Uint8Array)) {
    sendFromMemory(request, response, answer);
    return;
  }
  const body = response.socket === null ? null : takeRead(response, answer.body);
  if (body !== null) {
    sendFromMemory(request, response, { status: answer.status, headers: answer.headers, body });
    return;
  }
  const done = release.hold();
  sendFromFiles(request, response, answer)
    .catch((error: unknown) => {
      log(`Fault while reading the release: ${error instanceof Error ? error.message : String(error)}`);
      if (response.headersSent) response.destroy();
      else sendFromMemory(request, response, UNREADABLE);
    })
    .finally(done);
}

// A release that is copied over in place, perhaps: the new one is opened when it is whole.
const UNREADABLE = problem(503, "The file cannot be read now. Ask again.", {
  headers: { "Retry-After": "5" },
});

/** Many small writes in one system call; the bytes themselves are never copied. */
function sendFromMemory(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
): void {
  response.writeHead(status, headers);
  if (request.method !== "HEAD" && body.length > 0) {
    response.cork();
    for (const part of body) response.write(part);
  }
  response.end();
}

const readFile = promisify(read);

/** Files that are kept in memory are sent from there, the others a chunk at a time. */
async function sendFromFiles(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  await turnOf(request.socket, response);
  if (request.socket.destroyed) return;
  const body = await takeParts(response, answer.body);
  if (response.destroyed) return;
  if (body.every((part) => part instanceof Uint8Array)) {
    sendFromMemory(request, response, { ...answer, body });
    return;
  }
  response.writeHead(answer.status, answer.headers);
  for (const batch of batchesOf(body)) {
    const chunk = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK);
    const bytes = await readBatch(batch, chunk);
    if (response.destroyed) return;
    // A chunk that may still be on its way is never used again.
    if (!(await isWritten(response, bytes))) return;
    if (spare.length < SPARE) spare.push(chunk);
  }
  response.end();
}

/** Contents of files, null for what must be read by position. */
type Contents = Map<OpenFile, Taken | null>;

/** The parts, where the contents of all their files are in memory already; else null. */
function takeRead(response: ServerResponse, parts: readonly Part[]): readonly Part[] | null {
  const contents: Contents = new Map();
  for (const file of filesOf(parts)) {
    const content = file.takeRead();
    if (content === null) {
      letGo(contents);
      return null;
    }
    contents.set(file, content);
  }
  response.once("close", () => letGo(contents));
  return fillParts(parts, contents);
}

/** The parts, with the bytes of what can be kept in memory in the place of files; they are let go when the answer is over. */
async function takeParts(response: ServerResponse, parts: readonly Part[]): Promise<readonly Part[]> {
  const contents: Contents = new Map();
  response.once("close", () => letGo(contents));
  for (const file of filesOf(parts)) {
    const content = await file.take();
    if (response.destroyed) content?.letGo();
    else contents.set(file, content);
  }
  return fillParts(parts, contents);
}

function filesOf(parts: readonly Part[]): ReadonlySet<OpenFile> {
  const files = new Set<OpenFile>();
  for (const part of parts) if (!(part instanceof Uint8Array)) files.add(part.file);
  return files;
}

function fillParts(parts: readonly Part[], contents: Contents): readonly Part[] {
  return parts.map((part) => {
    const content = part instanceof Uint8Array ? null : contents.get(part.file);
    if (part instanceof Uint8Array || content === null || content === undefined) return part;
    return content.bytes.subarray(part.start, part.end);
  });
}

function letGo(contents: Contents): void {
  for (const content of contents.values()) content?.letGo();
  contents.clear();
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

/** The bytes of a batch, read into a chunk from all its places at once. */
async function readBatch(batch: readonly Part[], chunk: Buffer): Promise<Uint8Array> {
  let at = 0;
  const reads: Promise<void>[] = [];
  for (const part of batch) {
    const target = chunk.subarray(at, at + lengthOf(part));
    at += target.length;
    if (part instanceof Uint8Array) target.set(part);
    else reads.push(readInto(target, part.file.descriptor, part.start));
  }
  await Promise.all(reads);
  return chunk.subarray(0, at);
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

/** True when the system took the bytes, false when the client went away. */
function isWritten(response: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    response.once("close", gone);
    response.write(bytes, (error) => {
      response.off("close", gone);
      resolve(error === undefined || error === null);
    });
  });
}
