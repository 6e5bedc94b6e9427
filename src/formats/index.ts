/** The registry of formats. A new format is one file and one line here; everything else is derived from the keys. */

import { csv } from "./csv.js";
import type { Format } from "./format.js";
import { geojson } from "./geojson.js";
import { gpx } from "./gpx.js";
import { json } from "./json.js";
import { kml } from "./kml.js";

export const formats = { geojson, json, csv, gpx, kml } as const satisfies Readonly<Record<string, Format>>;

/** A format's name is its file extension and its value on the wire. */
export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as FormatName[];
