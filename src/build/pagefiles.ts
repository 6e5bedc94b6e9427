/** The map page's files in a release: the compiled bundle, the shell, and what it must know before it draws anything. */

import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { appendFile } from "../bytes/append.js";
import type { FileForm } from "../bytes/compress.js";
import { measure, type WrittenFile, writeText } from "../bytes/written.js";
import { backgroundBox } from "../map/background.js";
import { attributionOf } from "../map/basemap.js";
import { appFolder } from "../program.js";
import type { ManifestFile } from "../release/manifest.js";
import type { WrittenExport } from "./exports.js";
import { type PageFacts, pageHtml, webManifest } from "./page.js";

export const PAGE_FACTS = "page.json";
export const BASEMAP = "basemap.pmtiles";
/** The data as a script: the one thing that a browser reads where the page is opened from a disk. */
const DISK = "disk/places.js";

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** Exports that the page offers: only of these it knows the size. */
const OFFERED = /\/(all|[1-7])\.(gpx|kmz|kml|csv|excel\.csv|geojson)$/;

export interface WrittenPage {
  /** Files that are still to be compressed. */
  readonly plain: readonly WrittenFile[];
  /** Files of the bundle, which come with their compressed forms. */
  readonly files: readonly ManifestFile[];
  readonly facts: PageFacts;
}

/** Writes the page; `facts.sizes` is filled from the exports. */
export function writePage(
  folder: string,
  facts: Omit<PageFacts, "sizes" | "box">,
  exports: readonly WrittenExport[],
): WrittenPage {
  const sizes = exports.map(({ path, bytes }) => [path, bytes] as const);
  const offered = sizes.filter(([path]) => OFFERED.test(path));
  const box = backgroundBox(facts.bbox);
  const known: PageFacts = { ...pick(facts), box, sizes: Object.fromEntries(offered) };
  const bundle = readdirSync(join(appFolder, "web")).filter((name) => extname(name) in mediaTypes);
  return {
    plain: [
      writeText(
        folder,
        "index.html",
        "text/html; charset=utf-8",
        pageHtml({ ...known, sizes: Object.fromEntries(sizes) }),
      ),
      writeText(folder, PAGE_FACTS, "application/json", `${JSON.stringify(known)}\n`),
      writeText(folder, "app.webmanifest", "application/manifest+json", webManifest(known)),
    ],
    files: bundle.sort().map((name) => copyBundled(folder, name)),
    facts: known,
  };
}

/** Writes the script that stands for the endpoint and every file on a disk; the whole export must be compressed by now. */
export function writeDisk(folder: string, page: PageFacts): ManifestFile {
  const script = appendFile(join(folder, DISK));
  script.write(Buffer.from(`globalThis.shelters={"page":${JSON.stringify(page)},"places":"`));
  const places = openSync(join(folder, "exports/all/all.geojson.gz"), "r");
  try {
    const chunk = Buffer.allocUnsafe(BASE64_CHUNK);
    for (let read = fill(chunk, places); read > 0; read = fill(chunk, places))
      script.write(Buffer.from(chunk.toString("base64", 0, read)));
  } finally {
    closeSync(places);
  }
  script.write(Buffer.from('"};\n'));
  return { path: DISK, ...script.finish(), mediaType: "text/javascript; charset=utf-8", codings: {} };
}

const BASE64_CHUNK = 3 * 256 * 1024; // bytes: base64 of threes joins without padding

/** Reads on from a file until the chunk is full or the file ends; gives the bytes read. */
function fill(chunk: Buffer, file: number): number {
  let filled = 0;
  for (let read = 1; read > 0 && filled < chunk.length; filled += read)
    read = readSync(file, chunk, { offset: filled });
  return filled;
}

function copyBundled(folder: string, name: string): ManifestFile {
  const form = (extension: string): FileForm => {
    const { bytes, sha256 } = writeText(
      folder,
      name + extension,
      "",
      readFileSync(join(appFolder, "web", name + extension)),
    );
    return { bytes, sha256 };
  };
  const mediaType = mediaTypes[extname(name)] ?? "application/octet-stream";
  return { path: name, ...form(""), mediaType, codings: { gzip: form(".gz"), br: form(".br") } };
}

/** Only what the page reads: a fact more would be bytes that every visitor loads. */
function pick(facts: Omit<PageFacts, "sizes" | "box">): Omit<PageFacts, "sizes" | "box"> {
  const { title, attribution, license, date, generation, generator, count, bbox, categories, regions } =
    facts;
  const { extraKeys, maxZoom, basemap } = facts;
  const said = { title, attribution, license, date, generation, generator };
  return { ...said, count, bbox, categories, regions, extraKeys, maxZoom, basemap };
}

/** Puts the operator's basemap into the release as it is. Throws UserError `usage` for what is none. */
export async function copyBasemap(
  folder: string,
  from: string | null,
): Promise<{ readonly basemap: PageFacts["basemap"]; readonly files: readonly ManifestFile[] }> {
  if (from === null) return { basemap: null, files: [] };
  const credit = attributionOf(from);
  await copyFile(from, join(folder, BASEMAP));
  const file = { ...measure(folder, BASEMAP), mediaType: "application/vnd.pmtiles", codings: {} };
  return { basemap: { credit, version: file.sha256.slice(0, 16) }, files: [file] };
}
