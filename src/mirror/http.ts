/** A release on the web as the origin of a mirror: conditional requests, ranges, and a bound on every wait. */

import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { MANIFEST } from "../release/manifest.js";
import { get, openAgents, type Reply, readBody, readInto, refuseStatus } from "./ask.js";
import {
  FetchFault,
  type FetchLimits,
  type OpenedFile,
  type Origin,
  type Validator,
  type Wanted,
} from "./origin.js";

const PARALLEL = 4;
const SMALL = 64 * 1024; // bytes of a small file at most
// Many static hosts compress nothing by themselves, but hold the compressed forms.
const MANIFEST_FORMS = [`${MANIFEST}.br`, `${MANIFEST}.gz`, MANIFEST] as const;
const NO_VALIDATOR: Validator = { etag: null, lastModified: null };

/** `address` is a release: the folder, or its manifest. Static hosts and our own server are alike. */
export function openWeb(address: string, limits: FetchLimits, signal: AbortSignal): Origin {
  let base = baseOf(address);
  const agents = openAgents(PARALLEL);
  const ask: Ask = (name, headers, bytes, method = "GET") =>
    get(new URL(name, base), headers, { agents, limits, signal, bytes, method });
  const reader = manifestReader(ask, limits.manifestBytes);
  return {
    name: address,
    parallel: PARALLEL,
    isRemote: true,
    manifest: async (known, isFresh, onBytes) => {
      const head = await askHead(ask, known, isFresh);
      if (head === null) return null;
      base = head.base ?? base;
      for (const name of MANIFEST_FORMS) {
        const bytes = await reader(name, isFresh, onBytes);
        // A compressed form of another release, left over on the host, is told by its size.
        if (bytes !== null && (name === MANIFEST || head.bytes === null || bytes.length === head.bytes))
          return { bytes, validator: head.validator };
      }
      throw new FetchFault("missing", `it has no ${MANIFEST}`);
    },
    small: async (name) => {
      const reply = await ask(name, { "Cache-Control": "no-cache" }, SMALL);
      if (reply.status === 404 || reply.status === 410) {
        reply.letGo();
        return null;
      }
      refuseStatus(reply, [200]);
      return readBody(reply, SMALL);
    },
    open: async (path, wanted) => openedFile(await ask(path, rangeHeaders(wanted), wanted.bytes), wanted),
    close: async () => agents.close(),
  };
}

type Ask = (
  name: string,
  headers: Record<string, string>,
  bytes: number,
  method?: "GET" | "HEAD",
) => Promise<Reply>;

function baseOf(address: string): URL {
  const url = new URL(address);
  url.hash = "";
  url.search = "";
  if (url.pathname.endsWith(`/${MANIFEST}`)) return new URL(".", url);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** What the host says of its manifest before it sends any of it; null when it is the one that is known. */
async function askHead(
  ask: Ask,
  known: Validator | null,
  isFresh: boolean,
): Promise<{
  readonly base: URL | null;
  readonly bytes: number | null;
  readonly validator: Validator;
} | null> {
  const reply = await ask(MANIFEST, conditions(known, isFresh), SMALL, "HEAD");
  reply.letGo();
  if (reply.status === 304 && known !== null) return null;
  // A host that does not answer HEAD is asked for the manifest itself.
  if (reply.status !== 200 && [403, 404, 405, 501].includes(reply.status))
    return { base: null, bytes: null, validator: NO_VALIDATOR };
  refuseStatus(reply, [200]);
  const validator = { etag: reply.header("etag"), lastModified: reply.header("last-modified") };
  if (known !== null && known.etag !== null && known.etag === validator.etag) return null;
  const isPlain = reply.header("content-encoding") === null;
  const bytes = Number(reply.header("content-length") ?? Number.NaN);
  return {
    base: new URL(".", reply.url),
    bytes: isPlain && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null,
    validator,
  };
}

/** Reads a form of the manifest, going on where an earlier answer broke off; null where the host has no such form. */
function manifestReader(ask: Ask, limit: number) {
  let begun: Begun | null = null;
  const read = async (name: string, isFresh: boolean, onBytes: (bytes: number) => void): Promise<Buffer> => {
    const resumed = begun?.name === name ? begun : null;
    const coded = name === MANIFEST && { "Accept-Encoding": "br, gzip" };
    const reply = await ask(name, { ...conditions(null, isFresh), ...coded, ...resumption(resumed) }, limit);
    if (reply.status === 416) begun = null;
    refuseStatus(reply, [200, 206]);
    const isResumed = reply.status === 206 && startOf(reply.header("content-range")) === resumed?.bytes();
    const now = isResumed && resumed !== null ? resumed : beginning(name, reply);
    begun = now.etag === null ? null : now;
    await readInto(now.chunks, reply, limit, onBytes);
    begun = null;
    return decode(Buffer.concat(now.chunks), reply, name);
  };
  return async (name: string, isFresh: boolean, onBytes: (bytes: number) => void): Promise<Buffer | null> => {
    try {
      return await read(name, isFresh, onBytes);
    } catch (error) {
      if (name !== MANIFEST && error instanceof FetchFault && error.kind !== "passing") return null;
      throw error;
    }
  };
}

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

function conditions(known: Validator | null, isFresh: boolean): Record<string, string> {
  return {
    // Either way caches on the way ask the host again; to some hosts `no-cache` means that conditions do not count.
    "Cache-Control": isFresh ? "no-cache" : "max-age=0",
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

function openedFile(reply: Reply, wanted: Wanted): OpenedFile {
  if (reply.status === 416) {
    reply.letGo();
    throw new FetchFault("corrupt", "it has fewer bytes than its manifest says");
  }
  refuseStatus(reply, [200, 206]);
  const etag = reply.header("etag");
  const start = reply.status === 200 ? 0 : startOf(reply.header("content-range"));
  if (start !== 0 && start !== wanted.start) {
    reply.letGo();
    throw new FetchFault("corrupt", "it sent another range than asked for");
  }
  const length = reply.header("content-length");
  return {
    start,
    announced: length === null ? null : Number(length),
    etag: etag?.startsWith("W/") ? null : etag,
    chunks: reply.chunks(),
  };
}

function startOf(contentRange: string | null): number {
  const start = /^bytes (\d+)-/.exec(contentRange ?? "")?.[1];
  return start === undefined ? -1 : Number(start);
}

/** Undoes the coding of the transfer, and that of the name where the transfer did not say it. */
function decode(bytes: Buffer, reply: Reply, name: string): Buffer {
  const named = name.endsWith(".br") ? "br" : name.endsWith(".gz") ? "gzip" : null;
  const coding = reply.header("content-encoding") ?? named;
  try {
    if (coding === "br") return brotliDecompressSync(bytes, { maxOutputLength: 512e6 });
    if (coding === "gzip") return gunzipSync(bytes, { maxOutputLength: 512e6 });
    return bytes;
  } catch (error) {
    throw new FetchFault("corrupt", "its manifest cannot be unpacked", null, { cause: error });
  }
}
