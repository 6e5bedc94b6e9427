/** Places by region and category: what a build plans with, and what a pull is compared by. */

import type Database from "better-sqlite3";
import type { BBox } from "./place.js";
import { type Category, categoryOfNumber } from "./taxonomy.js";

/** How many places a region and category have, and the box around them. */
export interface Group {
  readonly region: string | null;
  readonly category: Category | null;
  readonly count: number;
  readonly bbox: BBox;
}

/** The groups of a table of places, in a stable order. */
export function readGroups(database: Database.Database, table: string): Group[] {
  return database
    .prepare<
      [],
      {
        region: string | null;
        category: number | null;
        count: number;
        west: number;
        south: number;
        east: number;
        north: number;
      }
    >(
      `SELECT region, category, count(*) AS count, min(lon) AS west, min(lat) AS south, max(lon) AS east, max(lat) AS north
       FROM ${table} GROUP BY region, category ORDER BY region, category`,
    )
    .all()
    .map(({ region, category, count, ...bbox }) => ({
      region,
      category: categoryOfNumber(category),
      count,
      bbox,
    }));
}
