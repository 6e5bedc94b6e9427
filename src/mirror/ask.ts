/**
 * One question to a host: redirects followed by hand, every wait bounded, and a status that is no answer thrown as what it
 * means. With node:http and not undici, whose parser (7.30) asserts when a host of HTTP/1.0 closes while we are not reading.
 */

import { Agent, type IncomingMessage, request } from "node:http";
import { request as requestSecurely, Agent as SecureAgent } from "node:https";
import { program } from "../program.js";
import { FetchFault, type FetchLimits, reasonOf } from "./origin.js";

/** An answer whose body has not been read. */
export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** The body; what goes wrong on the way is a passing fault. To be read, or to be let go. */
  readonly chunks: () => AsyncGenerator<Buffer>;
  readonly letGo: () => void;
  /** Where the answer came from, after redirects. */
  readonly url: URL;
}

export interface How {
  readonly agents: Agents;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
  readonly method: "GET" | "HEAD";
  /** Expected at most: sets how long the whole request may take. */
  readonly bytes: number;
}

/** Follows redirects by hand: a loop ends after a few, and https never becomes http. */
export async function get(start: URL, headers: Record<string, string>, how: How): Promise<Reply> {
  let url = start;
  for (let hops = 0; hops <= how.limits.redirects; hops++) {
    const reply = await getOnce(url, headers, how);
    const location = reply.header("location");
    if (![301, 302, 303, 307, 308].includes(reply.status) || location === null) return reply;
    reply.letGo();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
    const isFollowed =
      next !== null &&
      /^https?:$/.test(next.protocol) &&
      !(url.protocol === "https:" && next.protocol === "http:");
    if (!isFollowed) throw new FetchFault("final", "it redirects to an address that is not followed");
    url = next;
  }
  throw new FetchFault("final", `it redirects more than ${how.limits.redirects} times`);
}

async function getOnce(url: URL, headers: Record<string, string>, how: How): Promise<Reply> {
  const { limits, agents, method } = how;
  const longest = limits.requestBase + (Math.min(how.bytes, 1e12) / limits.slowest) * 1000;
  const signal = AbortSignal.any([how.signal, AbortSignal.timeout(Math.min(longest, 2 ** 31 - 1))]);
  const fault = (error: unknown): unknown => {
    if (how.signal.aborted) return how.signal.reason;
    return new FetchFault("passing", reasonOf(signal.aborted ? signal.reason : error), null, {
      cause: error,
    });
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      method,
      signal,
      headers: {
        "User-Agent": `${program.name}/${program.version}`,
        Accept: "*/*",
        // Files are asked for as they lie there: their hashes are those of the stored bytes.
        "Accept-Encoding": "identity",
        ...headers,
      },
    };
    const asked =
      url.protocol === "https:"
        ? requestSecurely(url, { ...options, agent: agents.https })
        : request(url, { ...options, agent: agents.http });
    asked.setTimeout(limits.stall, () => asked.destroy(new Error("it does not answer")));
    asked.on("error", reject);
    asked.on("response", (answer) => {
      asked.setTimeout(0); // from here on the reader waits, and knows when it is we who are slow
      resolve(answer);
    });
    asked.end();
  }).catch((error: unknown) => {
    throw fault(error);
  });
  response.on("error", () => {}); // told to whoever reads
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      const value = response.headers[name];
      return value === undefined ? null : String(value);
    },
    chunks: () => chunksOf(response, limits.stall, fault),
    letGo: () => letGo(response),
    url,
  };
}

const AHEAD = 256 * 1024; // bytes that are taken from the line before whoever reads has written the last ones

type End = "open" | "whole" | { readonly error: unknown };

/** What came before the line broke is given out before the fault: it need not come again. */
async function* chunksOf(
  response: IncomingMessage,
  stall: number,
  fault: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  const came: Buffer[] = [];
  let bytes = 0;
  const state: { end: End } = { end: "open" };
  let wake = (): void => {};
  response.on("data", (chunk: Buffer) => {
    came.push(chunk);
    bytes += chunk.length;
    if (bytes > AHEAD) response.pause();
    wake();
  });
  const finish = (how: End): void => {
    if (state.end === "open") state.end = how;
    wake();
  };
  response.on("end", () => finish("whole"));
  response.on("error", (error) => finish({ error }));
  try {
    for (;;) {
      const chunk = came.shift();
      if (chunk !== undefined) {
        bytes -= chunk.length;
        if (bytes <= AHEAD) response.resume();
        yield chunk;
      } else if (state.end === "whole") return;
      else if (state.end !== "open") throw fault(state.end.error);
      else {
        const timer = setTimeout(() => finish({ error: new Error("nothing comes any more") }), stall);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(timer);
      }
    }
  } finally {
    letGo(response);
  }
}

const SHORT = 16 * 1024; // bytes that are read rather than the connection given up

function letGo(response: IncomingMessage): void {
  const isShort = Number(response.headers["content-length"] ?? Number.NaN) <= SHORT;
  if (response.complete || isShort) response.resume();
  else response.destroy();
}

/** Throws a FetchFault for any status but the accepted ones; the body is let go. */
export function refuseStatus(reply: Reply, accepted: readonly number[]): void {
  const { status } = reply;
  if (accepted.includes(status)) return;
  reply.letGo();
  const kind =
    status === 404 || status === 410
      ? "missing"
      : status >= 500 || [408, 425, 429].includes(status)
        ? "passing"
        : "final";
  throw new FetchFault(kind, `it answered ${status}`, parseRetryAfter(reply.header("retry-after")));
}

/** Milliseconds of a Retry-After header, in either of its forms (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** The body as a whole. */
export async function readBody(reply: Reply, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  await readInto(chunks, reply, limit, () => {});
  return Buffer.concat(chunks);
}

/** The body behind what has come already; what comes stays there when the rest does not. */
export async function readInto(
  chunks: Uint8Array[],
  reply: Reply,
  limit: number,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let bytes = 0;
  for await (const chunk of reply.chunks()) {
    bytes += chunk.length;
    if (bytes > limit) throw new FetchFault("final", `its answer is longer than ${limit} bytes`);
    chunks.push(chunk);
    onBytes(chunk.length);
  }
}

/** Connections to keep while a run lasts. */
export interface Agents {
  readonly http: Agent;
  readonly https: SecureAgent;
  close(): void;
}

/** `connections` to each host at most. */
export function openAgents(connections: number): Agents {
  const options = { keepAlive: true, maxSockets: connections };
  const [http, https] = [new Agent(options), new SecureAgent(options)];
  return {
    http,
    https,
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
}
