/** The service worker: answers page, tiles and data from the release on this device, and `/api.php` when the server is gone. */

import { PMTiles, type RangeResponse, type Source } from "pmtiles";
import type { PageFacts } from "../build/page.js";
import { parseQuery } from "../query.js";
import { cutDocument, type ExportDocument } from "./cut.js";
import { formatNames } from "./formats.js";
import { isSaved, type KeptRelease, readKept, readKeptJson, releaseFor, update } from "./kept.js";
import { answerRange } from "./ranges.js";
import { type AskEvent, scope, tell, worker } from "./worker.js";

const SERVER_PATIENCE = 8000; // ms for an answer of the endpoint before this worker answers

worker.addEventListener("install", (event) => {
  event.waitUntil(update().then(() => worker.skipWaiting()));
});
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("message", (event) => event.waitUntil(update().then(tellSaved)));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(scope.href)) return;
  const path = decodeURIComponent(new URL(request.url).pathname.slice(scope.pathname.length));
  if (path === "manifest.json") return;
  if (!request.headers.has("Range")) event.respondWith(answer(event, path));
  else if (path === "basemap.pmtiles") event.respondWith(answerRange(request));
});

async function tellSaved(): Promise<void> {
  if (await isSaved()) await tell({ kind: "saved" });
}

/** What answers a path below the release. */
async function answer(event: AskEvent, path: string): Promise<Response> {
  const { request } = event;
  const release = await releaseFor(event);
  if (release === null) return fetch(request);
  if (path === "api.php")
    return askServerFirst(request, () => answerApi(release, new URL(request.url).search.slice(1)));
  const tile = /^tiles\/(\d+)\/(\d+)\/(\d+)\.pbf$/.exec(path);
  if (tile !== null) return answerTile(event, release, tile.slice(1).map(Number));
  const kept = await readKept(release, path === "" ? "index.html" : path);
  return kept ?? askServerFirst(request, () => cutPack(release, path));
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

/** By release; opened once, so that its directory is read once. */
const archives = new Map<string, PMTiles>();

async function answerTile(
  { request }: AskEvent,
  release: KeptRelease,
  [z = 0, x = 0, y = 0]: readonly number[],
): Promise<Response> {
  const archive = archives.get(release.name) ?? (await openArchive(release));
  if (archive === null) return fetch(request);
  archives.set(release.name, archive);
  const tile = await archive.getZxy(z, x, y);
  if (tile === undefined) return new Response(null, { status: 204 });
  return new Response(tile.data, { headers: { "Content-Type": "application/vnd.mapbox-vector-tile" } });
}

async function openArchive(release: KeptRelease): Promise<PMTiles | null> {
  const kept = await readKept(release, "places.pmtiles");
  return kept === null ? null : new PMTiles(blobSource(await kept.blob()));
}

function blobSource(blob: Blob): Source {
  return {
    getKey: () => "places.pmtiles",
    getBytes: async (offset: number, length: number): Promise<RangeResponse> => ({
      data: await blob.slice(offset, offset + length).arrayBuffer(),
    }),
  };
}

async function answerApi(release: KeptRelease, search: string): Promise<Response | null> {
  const parsed = parseQuery(search);
  if (!("faults" in parsed)) return cut(release, parsed.query);
  const problem = { type: "about:blank", title: "Bad request", status: 400, errors: parsed.faults };
  return new Response(JSON.stringify(problem), {
    status: 400,
    headers: { "Content-Type": "application/problem+json" },
  });
}

/** A ready-made file that was not kept is cut from the whole export. */
async function cutPack(release: KeptRelease, path: string): Promise<Response | null> {
  const [, slug = "", name = "", extension = ""] = /^exports\/([^/]+)\/([1-7]|all)\.(\w+)$/.exec(path) ?? [];
  const format = formatNames.find((one) => one === extension);
  const facts = await readKeptJson<PageFacts>(release, "page.json");
  const region = slug === "all" ? null : facts?.regions.find((one) => one.slug === slug)?.name;
  if (format === undefined || region === undefined) return null;
  const query = parseQuery(name === "all" ? "" : `type_lieu=${name}`);
  return "faults" in query
    ? null
    : cut(release, { ...query.query, format, region, limit: Number.POSITIVE_INFINITY });
}

async function cut(release: KeptRelease, query: Parameters<typeof cutDocument>[2]): Promise<Response | null> {
  const facts = await readKeptJson<PageFacts>(release, "page.json");
  const whole = await readKeptJson<ExportDocument>(release, "exports/all/all.geojson");
  if (facts === null || whole === null) return null;
  const { text, mediaType, matched, returned } = cutDocument(whole, facts.extraKeys, query);
  const headers = {
    "Content-Type": mediaType,
    "OGC-NumberMatched": String(matched),
    "OGC-NumberReturned": String(returned),
  };
  return new Response(text, { headers });
}
