/** What the map page must know of every place at once, to search, filter and list: one short row each. */

import { join } from "node:path";
import { appendFile } from "../bytes/append.js";
import type { WrittenFile } from "../bytes/written.js";
import type { Place } from "../place.js";
import type { Category } from "../taxonomy.js";

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

export interface PageIndex {
  add(place: Place): void;
  finish(): WrittenFile;
}

/** Begins the index below the release's folder; places are added in canonical order and written a row a line. */
export function startPageIndex(folder: string): PageIndex {
  const file = appendFile(join(folder, PAGE_INDEX));
  let before = "[\n";
  return {
    add: (place) => {
      file.write(Buffer.from(before + JSON.stringify(rowOf(place))));
      before = ",\n";
    },
    finish: () => {
      file.write(Buffer.from(file.length() === 0 ? "[\n\n]\n" : "\n]\n"));
      return { path: PAGE_INDEX, mediaType: "application/json", ...file.finish() };
    },
  };
}

function rowOf({ id, name, lon, lat, category, region, commune, ...place }: Place): IndexRow {
  const { altitude, summerCapacity, winterCapacity } = place;
  return [id, name, lon, lat, category, region, commune, altitude, summerCapacity, winterCapacity];
}
