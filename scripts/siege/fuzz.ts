/** 100,000 request texts over raw sockets, pipelined: each gets an answer of a known kind, and nothing leaves the release. */

import { connect } from "node:net";
import { randomNumbers } from "../synthetic.js";
import { shown } from "../table.js";
import { type RequestText, requestText } from "./requesttexts.js";
import { type Outcome, probe, type Releases, startServer } from "./trial.js";

const TEXTS = 100_000;
const PIPELINED = 40;
const AT_ONCE = 16;
const SEED = 20_261_121;
const SECRET = "never to be served";

/** 408: a body that was announced and never came. */
const ALLOWED = new Set([200, 204, 206, 304, 400, 404, 405, 408, 413, 414, 416, 431]);

export async function anyText({ one }: Releases): Promise<Outcome> {
  const server = await startServer(one);
  const random = randomNumbers(SEED);
  const seen = new Map<number, number>();
  const faults = new Map<string, number>();
  const note = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  let answered = 0;
  let mute = 0;
  const worker = async (): Promise<void> => {
    while (answered < TEXTS && server.isAlive()) {
      const texts: RequestText[] = [];
      do texts.push(requestText(random));
      while (texts.length < PIPELINED && texts.at(-1)?.isFramed === true);
      const { statuses, hasSecret } = await converse(server.address, texts);
      for (const status of statuses) seen.set(status, (seen.get(status) ?? 0) + 1);
      for (const status of statuses) if (!ALLOWED.has(status)) note(`status ${status}`);
      if (hasSecret) note("a file outside the release was sent");
      // A connection that ends without a single answer.
      if (statuses.length === 0) mute++;
      answered += Math.max(1, statuses.length);
    }
  };
  try {
    const before = server.memory();
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const after = await probe(server.address, 1);
    if (after.failures > 0 || !server.isAlive()) note("the server is gone");
    if (mute > 0) note("connections without an answer");
    const counts = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${shown(count)}`);
    return {
      asked: `${shown(TEXTS)} request texts, seed ${SEED}`,
      seen: `${counts.join(", ")}; ${shown(before)} MiB before, ${shown(server.memory())} after`,
      faults: [...faults].map(([fault, times]) => `${fault} (${times})`),
    };
  } finally {
    await server.stop();
  }
}

interface Conversation {
  readonly statuses: readonly number[];
  readonly hasSecret: boolean;
}

/** Sends all texts on one connection, and reads until it ends or all are answered. What follows bad framing has no answer. */
function converse(address: string, texts: readonly RequestText[]): Promise<Conversation> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const statuses: number[] = [];
    let hasSecret = false;
    let waiting = Buffer.alloc(0);
    socket.on("connect", () => socket.write(Buffer.concat(texts.map(({ bytes }) => bytes))));
    socket.on("data", (more) => {
      if (more.includes(SECRET)) hasSecret = true;
      waiting = Buffer.concat([waiting, more]);
      for (;;) {
        const answer = readAnswer(waiting, texts[statuses.length]?.method ?? "");
        if (answer === null) break;
        waiting = waiting.subarray(answer.bytes);
        if (answer.status !== 100) statuses.push(answer.status);
      }
      if (statuses.length === texts.length) socket.destroy();
    });
    // A body that was announced swallows the texts behind it: then nobody has anything more to say.
    socket.setTimeout(1000, () => socket.destroy());
    socket.on("error", () => {});
    socket.on("close", () => resolve({ statuses, hasSecret }));
  });
}

/** The first answer in the bytes; null while it is not whole. */
function readAnswer(
  bytes: Buffer,
  method: string,
): { readonly status: number; readonly bytes: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
  const hasBody = method !== "HEAD" && ![100, 204, 304].includes(status);
  const length = hasBody ? Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0) : 0;
  const total = end + 4 + length;
  return bytes.length < total ? null : { status, bytes: total };
}
