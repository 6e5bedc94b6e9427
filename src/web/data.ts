/** Where the page's data come from: files beside it; or, opened from a disk, where a browser reads none, one script that holds them. */

import type { IndexRow } from "../map/pageindex.js";
import { type ExportDocument, placeOf } from "./cut.js";
import { el } from "./dom.js";
import { entryOf, type PageFacts, type PlaceEntry, packPath, readIndex } from "./model.js";

const DISK = "disk/places.js";

/** What the script leaves behind (src/build/pagefiles.ts writes it). */
interface DiskData {
  readonly page: PageFacts;
  /** The whole GeoJSON export, gzipped, in base64. */
  readonly places: string;
}

export interface PageData {
  readonly facts: PageFacts;
  readonly places: readonly PlaceEntry[];
}

/** Whether the page was opened from a folder, without any server. */
export function isOnDisk(): boolean {
  return location.protocol === "file:";
}

/** What the page must know before it shows anything. Throws Error where a file does not come. */
export async function loadPage(): Promise<PageData> {
  if (!isOnDisk()) {
    const [facts, rows] = await Promise.all([
      getJson<PageFacts>("page.json"),
      getJson<readonly IndexRow[]>("index.json"),
    ]);
    return { facts, places: readIndex(rows) };
  }
  const { page } = await readDisk();
  const { features } = await loadExport(page, null);
  return { facts: page, places: features.map((feature) => entryOf(placeOf(feature, []))) };
}

/** The GeoJSON export of a region, or of all; on a disk always of all. Throws Error where it does not come. */
export async function loadExport(facts: PageFacts, region: string | null): Promise<ExportDocument> {
  if (!isOnDisk()) return getJson(packPath(facts, region, null, "geojson"));
  unpacked ??= readDisk().then(({ places }) => unpack(places));
  return unpacked;
}

let unpacked: Promise<ExportDocument> | null = null;

async function getJson<Value>(path: string): Promise<Value> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as Value;
}

async function readDisk(): Promise<DiskData> {
  const holder = globalThis as typeof globalThis & { shelters?: DiskData };
  if (holder.shelters === undefined)
    await new Promise((resolve, reject) => {
      const script = el("script", { src: DISK });
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error(`${DISK} is not there`)));
      document.head.append(script);
    });
  if (holder.shelters === undefined) throw new Error(`${DISK} holds nothing`);
  return holder.shelters;
}

async function unpack(base64: string): Promise<ExportDocument> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as ExportDocument;
}
