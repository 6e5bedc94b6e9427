/** The formats that the page can write itself; `src/web/bundle.mjs` puts this in the place of the registry, which is not all for browsers. */

import { csv } from "../formats/csv.js";
import type { Format } from "../formats/format.js";
import { geojson } from "../formats/geojson.js";
import { gpx } from "../formats/gpx.js";
import { json } from "../formats/json.js";
import { kml } from "../formats/kml.js";

export const formats = { geojson, json, csv, gpx, kml } as const satisfies Readonly<Record<string, Format>>;
export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];
