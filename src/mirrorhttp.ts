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
  let begun: Begun | null = null; // a manifest of which a part has come
  const askManifest: AskManifest = async (name, known, onBytes) => {
    const resumed = begun?.name === name ? begun : null;
    const reply = await ask(name, { ...conditions(known), ...resumption(resumed) }, limits.manifestBytes);
    if (reply.status === 304 && known !== null) {
      await reply.body.dump();
      return null;
    }
    if (reply.status === 416) begun = null;
    await refuseStatus(reply, [200, 206]);
    const isResumed = reply.status === 206 && startOf(reply.header("content-range")) === resumed?.bytes();
    const now = isResumed && resumed !== null ? resumed : beginning(name, reply);
    begun = now.etag === null ? null : now;
    await readInto(now.chunks, reply, limits.manifestBytes, onBytes);
    begun = null;
    base = new URL(".", reply.url);
    return {
      bytes: decode(Buffer.concat(now.chunks), reply, name),
      validator: { name, etag: reply.header("etag"), lastModified: reply.header("last-modified") },
    };
  };
  return {
    name: address,
    parallel: PARALLEL,
    isRemote: true,
    manifest: async (known, isFresh, onBytes) => {
      if (known !== null) return askManifest(known.name, known, onBytes);
      const compressed = isFresh ? null : await compressedManifest(askManifest, onBytes);
      return compressed ?? askManifest(MANIFEST, null, onBytes);
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
  ask: AskManifest,
  onBytes: (bytes: number) => void,
): Promise<OfferedManifest | null> {
  try {
    return await ask(`${MANIFEST}.br`, null, onBytes);
  } catch (error) {
    if (error instanceof FetchFault && error.kind !== "passing") return null;
    throw error;
  }
}

type AskManifest = (
  name: string,
  known: Validator | null,
  onBytes: (bytes: number) => void,
) => Promise<OfferedManifest | null>;

interface Begun {
  readonly name: string;
  /** Strong; null when the rest cannot be asked for. */
  readonly etag: string | null;
  readonly chunks: Uint8Array[];
  readonly bytes: () => number;
}

/** A coding of the transfer may be another one in the next answer: then nothing can be resumed. */
function beginning(name: string, reply: Reply): Begun {
  const etag = reply.header("content-encoding") === null ? reply.header("etag") : null;
  const chunks: Uint8Array[] = [];
  const bytes = (): number => chunks.reduce((total, { length }) => total + length, 0);
  return { name, etag: etag?.startsWith("W/") ? null : etag, chunks, bytes };
}

function resumption(begun: Begun | null): Record<string, string> {
  if (begun === null || begun.etag === null || begun.bytes() === 0) return {};
  return { Range: `bytes=${begun.bytes()}-`, "If-Range": begun.etag, "Accept-Encoding": "identity" };
}

function conditions(known: Validator | null): Record<string, string> {
  return {
    // Caches on the way ask the host again. `no-cache` would do so too, but hosts take it as a wish for the whole file.
    "Cache-Control": "max-age=0",
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
  const length = reply.header("content-length");
  return {
    start,
    announced: length === null ? null : Number(length),
    etag: etag?.startsWith("W/") ? null : etag,
    chunks: chunksOf(reply),
  };
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
  await readInto(chunks, reply, limit, () => {});
  return Buffer.concat(chunks);
}

async function readInto(
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
