/** A release on the web as the origin of a mirror: conditional requests, ranges, and a bound on every wait. */

import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Agent, type Dispatcher, request } from "undici";
import { MANIFEST } from "./manifest.js";
import {
  FetchFault,
  type FetchLimits,
  type OfferedManifest,
  type OpenedFile,
  type Origin,
  reasonOf,
  type Validator,
  type Wanted,
} from "./mirrororigin.js";
import { program } from "./program.js";

const PARALLEL = 4;
const SMALL = 64 * 1024; // bytes of a small file at most

interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly body: Dispatcher.ResponseData["body"];
  /** Where the answer came from, after redirects. */
  readonly url: URL;
}

/** `address` is a release: the folder, or its manifest. Static hosts and our own server are alike. */
export function openWeb(address: string, limits: FetchLimits, signal: AbortSignal): Origin {
  let base = baseOf(address);
  const agent = new Agent({
    connections: PARALLEL,
    pipelining: 1,
    connect: { timeout: limits.connect },
    headersTimeout: limits.stall,
    bodyTimeout: limits.stall,
  });
  const ask = (name: string, headers: Record<string, string>, bytes: number): Promise<Reply> =>
    get(new URL(name, base), headers, { agent, limits, signal, bytes });
  const askManifest = async (name: string, known: Validator | null): Promise<OfferedManifest | null> => {
    const reply = await ask(name, conditions(known), limits.manifestBytes);
    if (reply.status === 304 && known !== null) {
      await reply.body.dump();
      return null;
    }
    await refuseStatus(reply, [200]);
    const body = await readBody(reply, limits.manifestBytes);
    base = new URL(".", reply.url);
    return {
      bytes: decode(body, reply, name),
      wireBytes: body.length,
      validator: { name, etag: reply.header("etag"), lastModified: reply.header("last-modified") },
    };
  };
  return {
    name: address,
    parallel: PARALLEL,
    isRemote: true,
    manifest: async (known, isFresh) => {
      if (known !== null) return askManifest(known.name, known);
      return (isFresh ? null : await compressedManifest(askManifest)) ?? askManifest(MANIFEST, null);
    },
    small: async (name) => {
      const reply = await ask(name, { "Cache-Control": "no-cache" }, SMALL);
      if (reply.status === 404 || reply.status === 410) {
        await reply.body.dump();
        return null;
      }
      await refuseStatus(reply, [200]);
      return readBody(reply, SMALL);
    },
    open: async (path, wanted) => openedFile(await ask(path, rangeHeaders(wanted), wanted.bytes), wanted),
    close: () => agent.destroy(),
  };
}

function baseOf(address: string): URL {
  const url = new URL(address);
  url.hash = "";
  url.search = "";
  if (url.pathname.endsWith(`/${MANIFEST}`)) return new URL(".", url);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** The manifest in brotli under its own name, or null where the host has none: many static hosts compress nothing by themselves. */
async function compressedManifest(
  ask: (name: string, known: null) => Promise<OfferedManifest | null>,
): Promise<OfferedManifest | null> {
  try {
    return await ask(`${MANIFEST}.br`, null);
  } catch (error) {
    if (error instanceof FetchFault && error.kind !== "passing") return null;
    throw error;
  }
}

function conditions(known: Validator | null): Record<string, string> {
  return {
    "Cache-Control": "no-cache",
    ...(known?.etag != null
      ? { "If-None-Match": known.etag }
      : known?.lastModified != null && { "If-Modified-Since": known.lastModified }),
  };
}

/** The end is said too: what a broken budget leaves unread is then never sent. */
function rangeHeaders({ start, bytes, isPart, etag, isFresh }: Wanted): Record<string, string> {
  return {
    ...(isFresh && { "Cache-Control": "no-cache" }),
    ...((start > 0 || isPart) && { Range: `bytes=${start}-${start + bytes - 1}` }),
    ...(start > 0 && etag !== null && { "If-Range": etag }),
  };
}

async function openedFile(reply: Reply, wanted: Wanted): Promise<OpenedFile> {
  if (reply.status === 416) {
    await reply.body.dump();
    throw new FetchFault("corrupt", "it has fewer bytes than its manifest says");
  }
  await refuseStatus(reply, [200, 206]);
  const etag = reply.header("etag");
  const start = reply.status === 200 ? 0 : startOf(reply.header("content-range"));
  if (start !== 0 && start !== wanted.start) {
    reply.body.destroy();
    throw new FetchFault("corrupt", "it sent another range than asked for");
  }
  return { start, etag: etag?.startsWith("W/") ? null : etag, chunks: chunksOf(reply) };
}

function startOf(contentRange: string | null): number {
  const start = /^bytes (\d+)-/.exec(contentRange ?? "")?.[1];
  return start === undefined ? -1 : Number(start);
}

async function* chunksOf({ body }: Reply): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    throw new FetchFault("passing", reasonOf(error), null, { cause: error });
  }
}

async function readBody(reply: Reply, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(reply)) {
    bytes += chunk.length;
    if (bytes > limit) throw new FetchFault("final", `its answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undoes the coding of the transfer, and that of the name where the transfer did not say it. */
function decode(bytes: Buffer, reply: Reply, name: string): Buffer {
  const coding = reply.header("content-encoding") ?? (name.endsWith(".br") ? "br" : null);
  try {
    if (coding === "br") return brotliDecompressSync(bytes, { maxOutputLength: 512e6 });
    if (coding === "gzip") return gunzipSync(bytes, { maxOutputLength: 512e6 });
    return bytes;
  } catch (error) {
    throw new FetchFault("corrupt", "its manifest cannot be unpacked", null, { cause: error });
  }
}

interface How {
  readonly agent: Agent;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
  /** Expected at most: sets how long the whole request may take. */
  readonly bytes: number;
}

/** Follows redirects by hand: a loop ends after a few, and https never becomes http. */
async function get(start: URL, headers: Record<string, string>, how: How): Promise<Reply> {
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
      headers: {
        "User-Agent": `${program.name}/${program.version}`,
        Accept: "*/*",
        // Files are asked for as they lie there: their hashes are those of the stored bytes.
        "Accept-Encoding": url.pathname.endsWith(`/${MANIFEST}`) ? "br, gzip" : "identity",
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

async function refuseStatus(reply: Reply, accepted: readonly number[]): Promise<void> {
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
