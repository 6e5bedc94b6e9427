/** The files of a release that hold places. */

import { join } from "node:path";
import { type Coding, codingNames } from "../bytes/compress.js";
import { measure, writeText } from "../bytes/written.js";
import type { Format } from "../formats/format.js";
import { type FileFormatName, fileFormats, isWireFormat } from "../formats/index.js";
import type { Place } from "../place.js";
import type { ManifestFile } from "../release/manifest.js";
import { createRanks, type RanksWriter } from "../release/rankfile.js";
import type { Store } from "../store/store.js";
import { contractFiles, SAMPLE_SIZE, type TextFile } from "./contract.js";
import type { WrittenFormats } from "./exports.js";
import { startExports } from "./exportwork.js";
import type { Facts } from "./facts.js";
import { createGeoPackage, GEOPACKAGE, type PackageWriter } from "./geopackage.js";
import { planExports, planSelections, regionsOf } from "./plan.js";

/** The database that the server filters with. */
export const DATABASE = "index.sqlite";

/** A file of the release before it is compressed; `wanted` as in compressFiles. */
export type PlainFile = Omit<ManifestFile, "codings"> & { readonly wanted?: readonly Coding[] };

/** Writes what holds places below `folder`: every export, the server's database, the GeoPackage, the samples of the contract. */
export async function writePlaces(
  store: Store,
  database: string,
  folder: string,
  facts: Facts,
  onProgress: (places: number) => void,
) {
  const groups = store.groups();
  const about = { ...facts, extraKeys: store.extraKeys() };
  const plan = planExports(planSelections(groups));
  const task = { database, contentHash: store.contentHash(), options: { folder, plan, about } };
  const exporting = startExports(task, onProgress);
  try {
    const ranks = createRanks(join(folder, DATABASE), facts.count, regionsOf(groups));
    const first = [...take(store.places(), SAMPLE_SIZE)];
    await writeDatabases(store.places(), ranks, createGeoPackage(join(folder, GEOPACKAGE), about));
    const written = await exporting.done;
    for (const { format, offsets, pieces } of written.wholes) {
      ranks.setOffsets(format, offsets);
      ranks.setPieces(format, pieces);
    }
    for (const { format, region, category } of plan) {
      if (!isWireFormat(format)) continue; // the endpoint cuts no flavours
      const cut = { ...about, region, category, bbox: null };
      const { prologue, epilogue } = fileFormats[format];
      ranks.setEnvelope(format, region, category, { prologue: prologue(cut), epilogue: epilogue(cut) });
    }
    ranks.finish();
    return { exports: written.exports, ...listFiles(folder, written, contractFiles(about, first)) };
  } finally {
    await exporting.stop();
  }
}

/** What is written beside the exports, in this thread. */
async function writeDatabases(
  places: Iterable<Place>,
  ranks: RanksWriter,
  geopackage: PackageWriter,
): Promise<void> {
  let count = 0;
  for (const place of places) {
    ranks.add(place);
    geopackage.add(place);
    // Lets a progress line be drawn and a signal be heard.
    if (++count % 1000 === 0) await new Promise(setImmediate);
  }
  geopackage.finish();
}

function listFiles(folder: string, written: WrittenFormats, contract: readonly TextFile[]) {
  const plain: PlainFile[] = [
    ...written.exports.map(({ path, bytes, sha256, format, count }) => ({
      path,
      bytes,
      sha256,
      mediaType: fileFormats[format].mediaType,
      places: count,
      wanted: codingsOf(format),
    })),
    { ...measure(folder, DATABASE), mediaType: "application/vnd.sqlite3" },
    ...contract.map((file) => writeText(folder, file.path, file.mediaType, file.text)),
  ];
  const pieces = written.wholes.map(({ pieces: { path, bytes, sha256 } }) => ({
    path,
    bytes,
    sha256,
    mediaType: "application/octet-stream",
    codings: {},
  }));
  return { plain, pieces };
}

/**
 * Compressed forms of an export: brotli is slow, so only what the endpoint answers with has it; a packed format is
 * compressed already.
 */
function codingsOf(format: FileFormatName): readonly Coding[] {
  if (isWireFormat(format)) return codingNames;
  const { pack }: Format = fileFormats[format];
  return pack === undefined ? ["gzip"] : [];
}

/** The first `count` values. */
function* take<Value>(values: Iterable<Value>, count: number): Generator<Value> {
  let left = count;
  for (const value of values) {
    if (left-- === 0) return;
    yield value;
  }
}
