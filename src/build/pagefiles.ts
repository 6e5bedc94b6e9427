/** The map page's files in a release: the compiled bundle, the shell, and what it must know before it draws anything. */

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { FileForm } from "../bytes/compress.js";
import { measure, type WrittenFile, writeText } from "../bytes/written.js";
import { UserError } from "../errors.js";
import { backgroundBox } from "../map/background.js";
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
  const sizes = Object.fromEntries(exports.map(({ path, bytes }) => [path, bytes]));
  const known: PageFacts = { ...pick(facts), box: backgroundBox(facts.bbox), sizes };
  const bundle = readdirSync(join(appFolder, "web")).filter((name) => extname(name) in mediaTypes);
  return {
    plain: [
      writeText(folder, "index.html", "text/html; charset=utf-8", pageHtml(known)),
      writeText(folder, PAGE_FACTS, "application/json", `${JSON.stringify(known)}\n`),
      writeText(folder, "app.webmanifest", "application/manifest+json", webManifest(known)),
    ],
    files: bundle.sort().map((name) => copyBundled(folder, name)),
    facts: known,
  };
}

/** Writes the script that stands for the endpoint and every file on a disk; the whole export must be compressed by now. */
export function writeDisk(folder: string, page: PageFacts): ManifestFile {
  const places = readFileSync(join(folder, "exports/all/all.geojson.gz")).toString("base64");
  mkdirSync(dirname(join(folder, DISK)), { recursive: true });
  const script = `globalThis.shelters=${JSON.stringify({ page, places })};\n`;
  return { ...writeText(folder, DISK, "text/javascript; charset=utf-8", script), codings: {} };
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
  const { extraKeys, maxZoom, hasBasemap } = facts;
  const said = { title, attribution, license, date, generation, generator };
  return { ...said, count, bbox, categories, regions, extraKeys, maxZoom, hasBasemap };
}

/** Puts the operator's basemap into the release as it is. Throws UserError `usage` for what is no PMTiles archive. */
export async function copyBasemap(folder: string, from: string | null): Promise<ManifestFile[]> {
  if (from === null) return [];
  refuseForeign(from);
  await copyFile(from, join(folder, BASEMAP));
  return [{ ...measure(folder, BASEMAP), mediaType: "application/vnd.pmtiles", codings: {} }];
}

function refuseForeign(path: string): void {
  const start = Buffer.alloc(8);
  if (existsSync(path)) {
    const file = openSync(path, "r");
    readSync(file, start, 0, start.length, 0);
    closeSync(file);
  }
  if (start.toString("latin1") !== "PMTiles\u0003")
    throw new UserError("usage", `--basemap ${path} is no PMTiles archive of version 3.`);
}
