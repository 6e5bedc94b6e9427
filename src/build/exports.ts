/** One pass over the places writes their exports in some of the formats: every selection, and the pieces of the whole. */

import { join } from "node:path";
import { appendFile } from "../bytes/append.js";
import type { FileForm } from "../bytes/compress.js";
import type { About, Format } from "../formats/format.js";
import { type FileFormatName, type FormatName, fileFormats, isWireFormat } from "../formats/index.js";
import type { Place } from "../place.js";
import { createPieces, type WrittenPieces } from "../release/pieces.js";
import { createPositions, type Positions } from "../release/positions.js";
import type { PlannedExport } from "./plan.js";

/** What every document of a release says of it. */
export type ReleaseAbout = Omit<About, "region" | "category" | "bbox">;

/** What a thread that writes exports is started with: every planned export of some formats. */
export interface ExportTask {
  /** Of the release. */
  readonly folder: string;
  readonly plan: readonly PlannedExport[];
  readonly about: ReleaseAbout;
}

export interface WrittenExport extends PlannedExport, FileForm {}

/** A whole export that answers are cut from. */
export interface WholeExport {
  readonly format: FormatName;
  /** Where each place begins, and where a further one would. */
  readonly offsets: Positions;
  readonly pieces: WrittenPieces;
}

export interface WrittenFormats {
  readonly exports: readonly WrittenExport[];
  /** Of the formats among them that the endpoint answers in. */
  readonly wholes: readonly WholeExport[];
}

/**
 * Writes planned exports below the release's folder. Places come in canonical order.
 * Memory: one chunk per file, and 12 bytes per place and format of the endpoint.
 */
export function writeExports(
  { folder, plan, about }: ExportTask,
  places: Iterable<Place>,
  onProgress: (places: number) => void,
): WrittenFormats {
  const writers = [...new Set(plan.map(({ format }) => format))].map((format) =>
    openFormat(
      folder,
      format,
      plan.filter((planned) => planned.format === format),
      about,
    ),
  );
  let count = 0;
  for (const place of places) {
    for (const writer of writers) writer.append(place);
    if (++count % 1000 === 0) onProgress(count);
  }
  const written = writers.map((writer) => writer.finish());
  return {
    exports: written.flatMap((one) => one.exports),
    wholes: written.flatMap(({ whole }) => (whole === null ? [] : [whole])),
  };
}

interface FormatWriter {
  append(place: Place): void;
  finish(): { readonly exports: readonly WrittenExport[]; readonly whole: WholeExport | null };
}

function openFormat(
  folder: string,
  name: FileFormatName,
  plan: readonly PlannedExport[],
  about: ReleaseAbout,
): FormatWriter {
  const format = fileFormats[name];
  const writers = plan.map((planned) => openExport(folder, planned, { ...about, ...planned }));
  const bySelection = new Map(writers.map((writer) => [selectionKey(writer.plan), writer]));
  const whole = bySelection.get(selectionKey({ region: null, category: null })) as ExportWriter;
  const cut = isWireFormat(name) ? openCut(folder, name, whole.plan.count) : null;
  return {
    append: (place) => {
      const bytes = Buffer.from(format.place(place));
      const start = whole.append(bytes);
      cut?.append(bytes, start);
      const { region, category } = place;
      if (region !== null) bySelection.get(selectionKey({ region, category: null }))?.append(bytes);
      if (category === null) return;
      bySelection.get(selectionKey({ region: null, category }))?.append(bytes);
      if (region !== null) bySelection.get(selectionKey({ region, category }))?.append(bytes);
    },
    finish: () => ({
      whole: cut === null ? null : cut.finish(whole.nextStart()),
      exports: writers.map((writer) => writer.finish()),
    }),
  };
}

function selectionKey({ region, category }: Pick<PlannedExport, "region" | "category">): string {
  return region === null ? `${category}` : `${category}/${region}`;
}

/** What answers are cut with: where each place begins, and the pieces. */
function openCut(folder: string, format: FormatName, count: number) {
  const offsets = createPositions(count + 1);
  const pieces = createPieces(folder, format, count);
  let rank = 0;
  return {
    append: (place: Buffer, start: number): void => {
      offsets.set(rank++, start);
      pieces.append(place);
    },
    finish: (end: number): WholeExport => {
      offsets.set(count, end);
      return { format, offsets: offsets.values(), pieces: pieces.finish() };
    },
  };
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
