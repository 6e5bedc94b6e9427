/**
 * The service worker: keeps page, tiles and data of one release on the device, fetches a newer release whole before it
 * shows any of it, and answers `/api.php` itself when the server is gone.
 */

import { PMTiles, type RangeResponse, type Source } from "pmtiles";
import type { PageFacts } from "../build/page.js";
import { parseQuery } from "../query.js";
import type { Manifest, ManifestFile } from "../release/manifest.js";
import { cutDocument, type ExportDocument } from "./cut.js";
import { formatNames } from "./formats.js";
import type { WorkerMessage } from "./offline.js";

/** The part of a service worker's global scope that is used here; TypeScript has no library that holds page and worker both. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: {
      readonly includeUncontrolled: boolean;
    }): Promise<readonly { postMessage(message: WorkerMessage): void }[]>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", listener: (event: WaitEvent) => void): void;
  addEventListener(name: "message", listener: (event: WaitEvent) => void): void;
  addEventListener(name: "fetch", listener: (event: WaitEvent & FetchPart) => void): void;
}
interface WaitEvent {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchPart {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const worker = globalThis as unknown as WorkerScope;
const scope = new URL(worker.registration.scope);
const POINTER = "shelters"; // the cache that says which release is the current one
const PREFIX = "shelters-";
const CURRENT = new URL("current", scope).href;
const SERVER_PATIENCE = 8000; // ms for an answer of the endpoint before this worker answers

worker.addEventListener("install", (event) => {
  event.waitUntil(update().then(() => worker.skipWaiting()));
});
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("message", (event) => event.waitUntil(update().then(tellSaved)));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !request.url.startsWith(scope.href) || request.headers.has("Range")) return;
  event.respondWith(answer(request, url));
});

/** What answers a path below the release. */
async function answer(request: Request, url: URL): Promise<Response> {
  const path = decodeURIComponent(url.pathname.slice(scope.pathname.length));
  const release = await currentCache();
  if (release === null || path === "manifest.json") return fetch(request);
  if (path === "api.php") return askServerFirst(request, () => answerApi(release, url.search.slice(1)));
  const tile = /^tiles\/(\d+)\/(\d+)\/(\d+)\.pbf$/.exec(path);
  if (tile !== null) return answerTile(release, tile.slice(1).map(Number));
  const kept = await release.match(fileAddress(path === "" ? "index.html" : path), { ignoreVary: true });
  if (kept !== undefined) return kept;
  return askServerFirst(request, () => cutPack(release, path));
}

/** The server's answer when there is one in time; else ours, where we have one. */
async function askServerFirst(request: Request, own: () => Promise<Response | null>): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(SERVER_PATIENCE) });
  } catch (error) {
    const answered = await own();
    if (answered === null) throw error;
    return answered;
  }
}

async function currentCache(): Promise<Cache | null> {
  const name = await (await (await caches.open(POINTER)).match(CURRENT))?.text();
  return name !== undefined && (await caches.has(name)) ? caches.open(name) : null;
}

function fileAddress(path: string): string {
  return new URL(path, scope).href;
}

// ---- keeping a release ----

/** Fetches the release that is published now, if it is another one; all of it, or nothing. */
async function update(): Promise<void> {
  const published = await fetch(fileAddress("manifest.json"), { cache: "no-cache" }).catch(() => null);
  if (published === null || !published.ok) return;
  const text = await published.text();
  const name = PREFIX + (await sha256(new TextEncoder().encode(text))).slice(0, 24);
  const pointer = await caches.open(POINTER);
  const before = await (await pointer.match(CURRENT))?.text();
  if (before === name && (await caches.has(name))) return;
  try {
    await keep(name, JSON.parse(text) as Manifest);
  } catch {
    await caches.delete(name); // a release that was exchanged meanwhile, or a full disk: the next visit tries again
    return;
  }
  await pointer.put(CURRENT, new Response(name));
  archive = null;
  for (const old of await caches.keys()) if (old.startsWith(PREFIX) && old !== name) await caches.delete(old);
  if (before !== undefined) await tell({ kind: "newer" });
}

async function keep(name: string, manifest: Manifest): Promise<void> {
  const cache = await caches.open(name);
  for (const file of manifest.files.filter(isKept)) {
    const answered = await fetch(fileAddress(file.path), { cache: "no-cache" });
    const bytes = new Uint8Array(await answered.arrayBuffer());
    if (!answered.ok || (await sha256(bytes)) !== file.sha256)
      throw new Error(`${file.path} differs from the manifest`);
    await cache.put(fileAddress(file.path), new Response(bytes, { headers: headersOf(file, answered) }));
  }
}

/**
 * The page and its data; one archive stands for all tiles, one export for all. The basemap may be as large as a disk, the
 * page cannot read databases, and tiles.json differs by address.
 */
function isKept({ path, hostOnly }: ManifestFile): boolean {
  const isTop =
    !path.includes("/") &&
    !/^(index\.sqlite|places\.gpkg|basemap\.pmtiles|openapi\.json|tiles\.json)$/.test(path);
  return (isTop && !hostOnly) || path === "exports/all/all.geojson";
}

function headersOf({ mediaType }: ManifestFile, answered: Response): Record<string, string> {
  const policy = answered.headers.get("Content-Security-Policy");
  return { "Content-Type": mediaType, ...(policy !== null && { "Content-Security-Policy": policy }) };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function tellSaved(): Promise<void> {
  if ((await currentCache()) !== null) await tell({ kind: "saved" });
}

async function tell(message: WorkerMessage): Promise<void> {
  for (const client of await worker.clients.matchAll({ includeUncontrolled: true }))
    client.postMessage(message);
}

// ---- answering without a server ----

/** Of the current release; opened once, so that its directory is read once. */
let archive: PMTiles | null = null;

async function answerTile(release: Cache, [z = 0, x = 0, y = 0]: readonly number[]): Promise<Response> {
  if (archive === null) {
    const kept = await release.match(fileAddress("places.pmtiles"));
    if (kept === undefined) return fetch(fileAddress(`tiles/${z}/${x}/${y}.pbf`));
    archive = new PMTiles(blobSource(await kept.blob()));
  }
  const tile = await archive.getZxy(z, x, y);
  if (tile === undefined) return new Response(null, { status: 204 });
  return new Response(tile.data, { headers: { "Content-Type": "application/vnd.mapbox-vector-tile" } });
}

function blobSource(blob: Blob): Source {
  return {
    getKey: () => "places.pmtiles",
    getBytes: async (offset: number, length: number): Promise<RangeResponse> => ({
      data: await blob.slice(offset, offset + length).arrayBuffer(),
    }),
  };
}

async function answerApi(release: Cache, search: string): Promise<Response | null> {
  const parsed = parseQuery(search);
  if ("faults" in parsed) {
    const problem = { type: "about:blank", title: "Bad request", status: 400, errors: parsed.faults };
    return new Response(JSON.stringify(problem), {
      status: 400,
      headers: { "Content-Type": "application/problem+json" },
    });
  }
  return cut(release, parsed.query);
}

/** A ready-made file that was not kept is cut from the whole export. */
async function cutPack(release: Cache, path: string): Promise<Response | null> {
  const [, slug = "", name = "", extension = ""] = /^exports\/([^/]+)\/([1-7]|all)\.(\w+)$/.exec(path) ?? [];
  const format = formatNames.find((one) => one === extension);
  const facts = await readKept<PageFacts>(release, "page.json");
  const region = slug === "all" ? null : facts?.regions.find((one) => one.slug === slug)?.name;
  if (format === undefined || region === undefined) return null;
  const query = parseQuery(name === "all" ? "" : `type_lieu=${name}`);
  return "faults" in query
    ? null
    : cut(release, { ...query.query, format, region, limit: Number.POSITIVE_INFINITY });
}

async function cut(release: Cache, query: Parameters<typeof cutDocument>[2]): Promise<Response | null> {
  const facts = await readKept<PageFacts>(release, "page.json");
  const whole = await readKept<ExportDocument>(release, "exports/all/all.geojson");
  if (facts === null || whole === null) return null;
  const { text, mediaType, matched, returned } = cutDocument(whole, facts.extraKeys, query);
  const headers = {
    "Content-Type": mediaType,
    "OGC-NumberMatched": String(matched),
    "OGC-NumberReturned": String(returned),
  };
  return new Response(text, { headers });
}

async function readKept<Value>(release: Cache, path: string): Promise<Value | null> {
  const kept = await release.match(fileAddress(path));
  return kept === undefined ? null : ((await kept.json()) as Value);
}
