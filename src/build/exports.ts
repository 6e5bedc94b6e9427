/** Which files a release holds for its places, and the one pass over the places that writes them all. */

import { join } from "node:path";
import { bbox as turfBBox } from "@turf/bbox";
import { appendFile } from "../bytes/append.js";
import type { About, Format } from "../formats/format.js";
import {
  type FileFormatName,
  fileFormatNames,
  fileFormats,
  formatNames,
  isWireFormat,
} from "../formats/index.js";
import type { BBox, Place } from "../place.js";
import { exportPath } from "../release/paths.js";
import { createPieces, type WrittenPieces } from "../release/pieces.js";
import type { RanksWriter } from "../release/rankfile.js";
import type { Group } from "../store/store.js";
import { type Category, categoryNumbers } from "../taxonomy.js";
import { slugify } from "../text.js";

/** A region and category, null = all, with what is known of its places before they are read. */
export interface SelectionPlan {
  readonly region: string | null;
  readonly category: Category | null;
  readonly count: number;
  readonly bbox: BBox | null;
}

export interface PlannedExport extends SelectionPlan {
  readonly format: FileFormatName;
  /** Path in the release, with forward slashes. */
  readonly path: string;
}

export interface WrittenExport extends PlannedExport {
  readonly bytes: number;
  readonly sha256: string;
}

/** What one pass over the places wrote. */
export interface Written {
  readonly exports: readonly WrittenExport[];
  /** One file for each format: see pieces.ts. */
  readonly pieces: readonly WrittenPieces[];
}

// Windows opens devices under these names, in any folder.
const DEVICES = ["con", "prn", "aux", "nul", ...numbered("com"), ...numbered("lpt")];
const LONGEST_SLUG = 60; // characters: Windows' paths end at 260

function numbered(name: string): string[] {
  return Array.from({ length: 10 }, (_, number) => `${name}${number}`);
}

/** Path names of regions, in the order of the names: stable, lower case, one each. */
export function regionSlugs(regions: readonly string[]): ReadonlyMap<string, string> {
  const slugs = new Map<string, string>();
  const taken = new Set(["all", ...DEVICES]);
  for (const region of [...new Set(regions)].sort()) {
    const slug = slugify(region).slice(0, LONGEST_SLUG).replace(/-$/, "");
    let unique = slug;
    for (let number = 2; taken.has(unique); number++) unique = `${slug}-${number}`;
    taken.add(unique);
    slugs.set(region, unique);
  }
  return slugs;
}

/** Every region x category, `all` on each axis first, with counts and boxes. */
export function planSelections(groups: readonly Group[]): SelectionPlan[] {
  const regions = [null, ...regionsOf(groups)];
  return regions.flatMap((region) =>
    [null, ...categoryNumbers].map((category) => {
      const chosen = groups.filter(
        (group) =>
          (region === null || group.region === region) && (category === null || group.category === category),
      );
      return {
        region,
        category,
        count: chosen.reduce((sum, { count }) => sum + count, 0),
        bbox: boxAround(chosen.map((group) => group.bbox)),
      };
    }),
  );
}

/** Names of the regions that have places, sorted. */
export function regionsOf(groups: readonly Group[]): string[] {
  return [...new Set(groups.map(({ region }) => region))].filter((region) => region !== null).sort();
}

/** The smallest box around boxes; null around none. */
function boxAround(boxes: readonly BBox[]): BBox | null {
  if (boxes.length === 0) return null;
  const corners = boxes.flatMap(({ west, south, east, north }) => [
    [west, south],
    [east, north],
  ]);
  const [west, south, east, north] = turfBBox({ type: "MultiPoint", coordinates: corners }) as [
    number,
    number,
    number,
    number,
  ];
  return { west, south, east, north };
}

/** Every selection in every format and flavour. */
export function planExports(selections: readonly SelectionPlan[]): PlannedExport[] {
  const slugs = regionSlugs(selections.map(({ region }) => region).filter((region) => region !== null));
  return selections.flatMap((selection) =>
    fileFormatNames.map((format) => {
      const slug = selection.region === null ? null : (slugs.get(selection.region) ?? null);
      return { ...selection, format, path: exportPath(slug, selection.category, format) };
    }),
  );
}

/**
 * Writes every planned export below `folder` in one pass over the places, which come in canonical order, and tells the
 * release's database where each place begins. Memory: one chunk per file and 16 bytes per place and format.
 */
export async function writeExports(
  folder: string,
  plan: readonly PlannedExport[],
  places: Iterable<Place>,
  about: Omit<About, "region" | "category" | "bbox">,
  ranks: RanksWriter,
  onProgress: (places: number) => void,
): Promise<Written> {
  const writers = plan.map((planned) => openExport(folder, planned, { ...about, ...planned }));
  const byKey = new Map(
    writers.map((writer) => [key(writer.plan.format, writer.plan.region, writer.plan.category), writer]),
  );
  const count = plan.find((planned) => planned.region === null && planned.category === null)?.count ?? 0;
  const offsets = new Map(formatNames.map((format) => [format, new Float64Array(count + 1)]));
  const wholeOffsets: ReadonlyMap<FileFormatName, Float64Array> = offsets;
  const pieces: ReadonlyMap<FileFormatName, ReturnType<typeof createPieces>> = new Map(
    formatNames.map((format) => [format, createPieces(folder, format, count)]),
  );
  let rank = 0;
  for (const place of places) {
    ranks.add(place);
    for (const format of fileFormatNames) {
      const bytes = Buffer.from(fileFormats[format].place(place));
      pieces.get(format)?.append(bytes);
      const region = place.region === null ? [null] : [null, place.region];
      const category = place.category === null ? [null] : [null, place.category];
      for (const oneRegion of region) {
        for (const oneCategory of category) {
          const start = byKey.get(key(format, oneRegion, oneCategory))?.append(bytes);
          const ends = oneRegion === null && oneCategory === null ? wholeOffsets.get(format) : undefined;
          if (ends !== undefined) ends[rank] = start ?? 0;
        }
      }
    }
    rank++;
    if (rank % 1000 === 0) {
      onProgress(rank);
      await new Promise(setImmediate); // lets a progress line be drawn and a signal be heard
    }
  }
  const written = writers.map((writer) => writer.finish());
  for (const [format, ends] of offsets) {
    ends[count] = byKey.get(key(format, null, null))?.nextStart() ?? 0;
    ranks.setOffsets(format, ends);
  }
  for (const { format, region, category } of plan) {
    if (!isWireFormat(format)) continue; // the endpoint cuts no flavours
    const cut = { ...about, region, category, bbox: null };
    ranks.setEnvelope(format, region, category, {
      prologue: fileFormats[format].prologue(cut),
      epilogue: fileFormats[format].epilogue(cut),
    });
  }
  return { exports: written, pieces: [...pieces.values()].map((writer) => writer.finish(ranks)) };
}

function key(format: FileFormatName, region: string | null, category: Category | null): string {
  return `${format}/${category ?? ""}/${region ?? ""}`;
}

interface ExportWriter {
  readonly plan: PlannedExport;
  /** Adds a place, with the separator before it where one belongs; gives the byte at which the place begins. */
  append(place: Buffer): number;
  /** Where a further place would begin. */
  nextStart(): number;
  finish(): WrittenExport;
}

function openExport(folder: string, plan: PlannedExport, about: About): ExportWriter {
  const format: Format = fileFormats[plan.format];
  const separator = Buffer.from(format.separator);
  const file = appendFile(join(folder, plan.path), format.pack?.(about));
  file.write(Buffer.from(format.prologue(about)));
  let isFirst = true;
  let nextStart = file.length();
  return {
    plan,
    append: (place) => {
      if (!isFirst) file.write(separator);
      isFirst = false;
      const start = file.length();
      file.write(place);
      nextStart = file.length() + separator.length;
      return start;
    },
    nextStart: () => nextStart,
    finish: () => {
      file.write(Buffer.from(format.epilogue(about)));
      return { ...plan, ...file.finish() };
    },
  };
}
