/** The registry of formats. A new format is one file and one line here; everything else is derived from the keys. */

import { compactGeojson } from "./compact.js";
import { csv } from "./csv.js";
import { excelCsv } from "./excel.js";
import type { Format } from "./format.js";
import { geojson } from "./geojson.js";
import { gpx, gpxIn } from "./gpx.js";
import { json } from "./json.js";
import { kml } from "./kml.js";
import { kmzIn } from "./kmz.js";
import { ndjson } from "./ndjson.js";
import { simpleGpx } from "./simple.js";

/** Formats of the endpoint, which are also files: the key is the value on the wire and the file extension. */
export const formats = { geojson, json, csv, gpx, kml } as const satisfies Readonly<Record<string, Format>>;

/** Formats that are files only: the key is the file extension. */
export const flavours = {
  ndjson,
  "compact.geojson": compactGeojson,
  "excel.csv": excelCsv,
  "simple.gpx": simpleGpx,
  "es.gpx": gpxIn("es"),
  "ca.gpx": gpxIn("ca"),
  "en.gpx": gpxIn("en"),
  kmz: kmzIn("fr"),
  "es.kmz": kmzIn("es"),
  "ca.kmz": kmzIn("ca"),
  "en.kmz": kmzIn("en"),
} as const satisfies Readonly<Record<string, Format>>;

/** Every format that a release holds files of. */
export const fileFormats = { ...formats, ...flavours } as const;

/** A format of the endpoint. */
export type FormatName = keyof typeof formats;
/** A format of the endpoint or a flavour, by its file extension. */
export type FileFormatName = keyof typeof fileFormats;

export const formatNames = Object.keys(formats) as FormatName[];
export const fileFormatNames = Object.keys(fileFormats) as FileFormatName[];

/** Whether the endpoint answers in it. */
export function isWireFormat(name: FileFormatName): name is FormatName {
  return name in formats;
}
