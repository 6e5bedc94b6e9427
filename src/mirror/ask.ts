/** One question to a host: redirects followed by hand, every wait bounded, and a status that is no answer thrown as what it means. */

import { Agent, type Dispatcher, request } from "undici";
import { program } from "../program.js";
import { FetchFault, type FetchLimits, reasonOf } from "./origin.js";

/** An answer whose body has not been read. */
export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly body: Dispatcher.ResponseData["body"];
  /** Where the answer came from, after redirects. */
  readonly url: URL;
}

export interface How {
  readonly agent: Agent;
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
    await reply.body.dump();
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
  const { limits } = how;
  const longest = limits.requestBase + (Math.min(how.bytes, 1e12) / limits.slowest) * 1000;
  const signal = AbortSignal.any([how.signal, AbortSignal.timeout(Math.min(longest, 2 ** 31 - 1))]);
  try {
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(url.href, {
      dispatcher: how.agent,
      signal,
      method: how.method,
      headers: {
        "User-Agent": `${program.name}/${program.version}`,
        Accept: "*/*",
        // Files are asked for as they lie there: their hashes are those of the stored bytes.
        "Accept-Encoding": "identity",
        ...headers,
      },
    });
    const header = (name: string): string | null => {
      const value = answered[name];
      return value === undefined ? null : String(value);
    };
    return { status: statusCode, header, body, url };
  } catch (error) {
    if (how.signal.aborted) throw how.signal.reason;
    throw new FetchFault("passing", reasonOf(error), null, { cause: error });
  }
}

/** Throws a FetchFault for any status but the accepted ones; the body is let go. */
export async function refuseStatus(reply: Reply, accepted: readonly number[]): Promise<void> {
  const { status } = reply;
  if (accepted.includes(status)) return;
  await reply.body.dump().catch(() => {}); // the answer is refused in any case
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
/** The body; what goes wrong on the way is a passing fault. */
export async function* chunksOf({ body }: Reply): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    throw new FetchFault("passing", reasonOf(error), null, { cause: error });
  }
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
  for await (const chunk of chunksOf(reply)) {
    bytes += chunk.length;
    if (bytes > limit) throw new FetchFault("final", `its answer is longer than ${limit} bytes`);
    chunks.push(chunk);
    onBytes(chunk.length);
  }
}

/** Connections to keep while a run lasts. */
export function openAgent(limits: FetchLimits, connections: number): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    connect: { timeout: limits.connect },
    headersTimeout: limits.stall,
    bodyTimeout: limits.stall,
  });
}
