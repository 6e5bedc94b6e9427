/** One file of every format and flavour, and the GeoPackage, of a handful of places. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGeoPackage } from "../../src/build/geopackage.js";
import type { About, Format } from "../../src/formats/format.js";
import { type FileFormatName, fileFormatNames, fileFormats } from "../../src/formats/index.js";
import type { Place } from "../../src/place.js";
import { documentOf } from "./documents.js";

/** Path of the file of a format, or of the GeoPackage. */
export type FilePath = (format: FileFormatName | "gpkg") => string;

/** Writes `places.{format}` for every format into a new folder. */
export function writeExportFiles(folder: string, places: readonly Place[], about: About): FilePath {
  mkdirSync(folder);
  const pathOf: FilePath = (format) => join(folder, `places.${format}`);
  for (const name of fileFormatNames) {
    const { pack }: Format = fileFormats[name];
    const document = Buffer.from(documentOf(name, places, about));
    const packer = pack?.(about);
    const bytes = packer === undefined ? document : Buffer.concat([packer.write(document), packer.end()]);
    writeFileSync(pathOf(name), bytes);
  }
  const geopackage = createGeoPackage(pathOf("gpkg"), about);
  for (const place of places) geopackage.add(place);
  geopackage.finish();
  return pathOf;
}
