/** The files of a release that hold places, written in one pass over them. */

import { join } from "node:path";
import { type Coding, codingNames } from "../bytes/compress.js";
import { measure, writeText } from "../bytes/written.js";
import type { Format } from "../formats/format.js";
import { type FileFormatName, fileFormats, isWireFormat } from "../formats/index.js";
import type { ManifestFile } from "../release/manifest.js";
import { createRanks } from "../release/rankfile.js";
import type { Store } from "../store/store.js";
import { contractFiles, SAMPLE_SIZE } from "./contract.js";
import { planExports, planSelections, regionsOf, writeExports } from "./exports.js";
import type { Facts } from "./facts.js";
import { createGeoPackage, GEOPACKAGE } from "./geopackage.js";

/** The database that the server filters with. */
export const DATABASE = "index.sqlite";

/** A file of the release before it is compressed; `wanted` as in compressFiles. */
export type PlainFile = Omit<ManifestFile, "codings"> & { readonly wanted?: readonly Coding[] };

/** Writes what holds places below `folder`: every export, the server's database, the GeoPackage, the samples of the contract. */
export async function writePlaces(
  store: Store,
  folder: string,
  facts: Facts,
  onProgress: (places: number) => void,
) {
  const groups = store.groups();
  const about = { ...facts, extraKeys: store.extraKeys() };
  const ranks = createRanks(join(folder, DATABASE), facts.count, regionsOf(groups));
  const geopackage = createGeoPackage(join(folder, GEOPACKAGE), about);
  const first = [...take(store.places(), SAMPLE_SIZE)];
  const plan = planExports(planSelections(groups));
  const places = geopackage.record(store.places());
  const written = await writeExports(folder, plan, places, about, ranks, onProgress);
  ranks.finish();
  geopackage.finish();
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
    ...contractFiles(about, first).map((file) => writeText(folder, file.path, file.mediaType, file.text)),
  ];
  const pieces = written.pieces.map((file) => ({
    ...file,
    mediaType: "application/octet-stream",
    codings: {},
  }));
  return { exports: written.exports, plain, pieces };
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
