/**
 * Releases on this device, each in a cache of its own. A newer one is fetched whole before any of it is shown, and a page
 * that is open keeps the release that it began with: nobody sees the list of one and the map of another.
 */

import type { Manifest, ManifestFile } from "../release/manifest.js";
import { type AskEvent, fileAddress, openClients, scope, tell } from "./worker.js";

// Sites below one origin share its caches: each name begins with the address of its own.
const POINTERS = `${scope.href}pointers`; // which release is the current one, and which an open page began with
const RELEASE = `${scope.href}release-`;
const CURRENT = fileAddress("current");
const began = new Map<string, string>(); // in memory what POINTERS holds for open pages: a worker may be ended at any time

export interface KeptRelease {
  readonly name: string;
  readonly files: Cache;
}

/** The release that whoever asks began with, or begins with now; null where none is kept yet. */
export async function releaseFor({
  clientId,
  resultingClientId,
  request,
}: AskEvent): Promise<KeptRelease | null> {
  const isPage = request.mode === "navigate";
  const name = (isPage ? null : await nameOfClient(clientId)) ?? (await currentName());
  if (name === null) return null;
  await remember(resultingClientId === "" ? clientId : resultingClientId, name);
  return { name, files: await caches.open(name) };
}

/** Whether a whole release is on this device. */
export async function isSaved(): Promise<boolean> {
  return (await currentName()) !== null;
}

/** A file of a kept release; null where it is not kept. */
export async function readKept({ files }: KeptRelease, path: string): Promise<Response | null> {
  return (await files.match(fileAddress(path), { ignoreVary: true })) ?? null;
}

/** A JSON file of a kept release. */
export async function readKeptJson<Value>(release: KeptRelease, path: string): Promise<Value | null> {
  return ((await (await readKept(release, path))?.json()) ?? null) as Value | null;
}

async function currentName(): Promise<string | null> {
  return existing(await (await (await caches.open(POINTERS)).match(CURRENT))?.text());
}

async function nameOfClient(id: string): Promise<string | null> {
  if (id === "") return null;
  const known = began.get(id) ?? (await (await (await caches.open(POINTERS)).match(clientKey(id)))?.text());
  return existing(known);
}

async function existing(name: string | undefined): Promise<string | null> {
  return name !== undefined && (await caches.has(name)) ? name : null;
}

async function remember(id: string, name: string): Promise<void> {
  if (id === "" || began.get(id) === name) return;
  began.set(id, name);
  await (await caches.open(POINTERS)).put(clientKey(id), new Response(name));
}

function clientKey(id: string): string {
  return fileAddress(`clients/${id}`);
}

let running: Promise<void> | null = null;
let waiting: Promise<void> | null = null;

/**
 * Fetches the release that is published now, if it is another one; all of it, or nothing. One update at a time: whoever asks
 * while one runs gets one after it, because what was open when that one cleared away may be closed by now.
 */
export function update(): Promise<void> {
  if (running === null) {
    running = fetchNewer().finally(() => {
      running = null;
    });
    return running;
  }
  waiting ??= running.then(() => {
    waiting = null;
    return update();
  });
  return waiting;
}

async function fetchNewer(): Promise<void> {
  const published = await fetch(fileAddress("manifest.json"), { cache: "no-cache" }).catch(() => null);
  if (published === null || !published.ok) return;
  const text = await published.text();
  const name = RELEASE + (await sha256(new TextEncoder().encode(text))).slice(0, 24);
  const before = await currentName();
  if (before !== name) {
    try {
      await keep(name, JSON.parse(text) as Manifest);
    } catch (error) {
      // What has come stays for the next attempt, unless it is the disk that is full.
      if (error instanceof DOMException && error.name === "QuotaExceededError") await caches.delete(name);
      return;
    }
    await (await caches.open(POINTERS)).put(CURRENT, new Response(name));
    if (before !== null) await tell({ kind: "newer" });
  }
  await dropUnused(name);
}

async function keep(name: string, manifest: Manifest): Promise<void> {
  const cache = await caches.open(name);
  for (const file of manifest.files.filter(isKept))
    await cache.put(fileAddress(file.path), (await copyOf(file)) ?? (await fetchFile(file)));
}

/** The same bytes from a release that is on the device already, be it whole or not. */
async function copyOf({ path, sha256 }: ManifestFile): Promise<Response | null> {
  for (const name of await releaseNames()) {
    const kept = await (await caches.open(name)).match(fileAddress(path));
    if (kept?.headers.get("ETag") === `"${sha256}"`) return kept;
  }
  return null;
}

async function fetchFile(file: ManifestFile): Promise<Response> {
  const answered = await fetch(fileAddress(file.path), { cache: "no-cache" });
  const bytes = new Uint8Array(await answered.arrayBuffer());
  if (!answered.ok || (await sha256(bytes)) !== file.sha256)
    throw new Error(`${file.path} differs from the manifest`); // it was exchanged in between
  const policy = answered.headers.get("Content-Security-Policy");
  const headers = { "Content-Type": file.mediaType, ETag: `"${file.sha256}"` };
  return new Response(bytes, {
    headers: { ...headers, ...(policy !== null && { "Content-Security-Policy": policy }) },
  });
}

/**
 * The page and its data; one archive stands for all tiles, one export for all. The basemap may be as large as a disk, the
 * page cannot read databases, programs do not ask here, and tiles.json differs by address.
 */
function isKept({ path, hostOnly }: ManifestFile): boolean {
  const isTop =
    !path.includes("/") &&
    !/^(index\.sqlite|places\.gpkg|basemap\.pmtiles|(openapi|tiles|downloads)\.json)$/.test(path);
  return (isTop && !hostOnly) || path === "exports/all/all.geojson";
}

/** Releases that no open page began with go, and what is remembered of pages that are closed. */
async function dropUnused(current: string): Promise<void> {
  const open = (await openClients()).map(({ id }) => id);
  const used = new Set([current, ...(await Promise.all(open.map(nameOfClient)))]);
  for (const name of await releaseNames()) if (!used.has(name)) await caches.delete(name);
  const pointers = await caches.open(POINTERS);
  const live = new Set([CURRENT, ...open.map(clientKey)]);
  for (const { url } of await pointers.keys()) if (!live.has(url)) await pointers.delete(url);
  for (const id of began.keys()) if (!open.includes(id)) began.delete(id);
}

async function releaseNames(): Promise<string[]> {
  return (await caches.keys()).filter((name) => name.startsWith(RELEASE));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
