/** What the map page must know of every place at once, to search, filter and list: one short row each. */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place.js";
import type { Category } from "./taxonomy.js";

export const PAGE_INDEX = "index.json";

/** Altitude in metres; sleeping places in summer and winter; null = unknown. */
export type IndexRow = readonly [
  id: number,
  name: string,
  lon: number,
  lat: number,
  category: Category | null,
  region: string | null,
  commune: string,
  altitude: number | null,
  summer: number | null,
  winter: number | null,
];

/** Writes the rows in canonical order, one a line. */
export function writePageIndex(folder: string, places: readonly Place[]) {
  const rows = places.map((place): IndexRow => {
    const { id, name, lon, lat, category, region, commune, altitude, summerCapacity, winterCapacity } = place;
    return [id, name, lon, lat, category, region, commune, altitude, summerCapacity, winterCapacity];
  });
  const bytes = Buffer.from(`[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);
  writeFileSync(join(folder, PAGE_INDEX), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { path: PAGE_INDEX, bytes: bytes.length, sha256, mediaType: "application/json" };
}
