/** A place as a row of the store, and back. */

import type { Json, Place } from "../place.js";
import { categoryOfNumber } from "../taxonomy.js";

/** Columns of a place, in the order of `rowOf`. */
export const COLUMNS =
  "id, name, lon, lat, category, category_slug, region, commune, url, description, comment, photo, " +
  "altitude_text, altitude, summer_text, summer_capacity, winter_text, winter_capacity, extra";

/** A row as SQLite gives it. */
export interface PlaceRow {
  readonly id: number;
  readonly name: string;
  readonly lon: number;
  readonly lat: number;
  readonly category: number | null;
  readonly category_slug: string;
  readonly region: string | null;
  readonly commune: string;
  readonly url: string;
  readonly description: string;
  readonly comment: string;
  readonly photo: string;
  readonly altitude_text: string | null;
  readonly altitude: number | null;
  readonly summer_text: string;
  readonly summer_capacity: number | null;
  readonly winter_text: string;
  readonly winter_capacity: number | null;
  readonly extra: string;
}

/** The place of a row; `extraKeys` are the keys that every place of the store lists. */
export function placeOfRow(row: PlaceRow, extraKeys: readonly string[]): Place {
  const extra = extraKeys.length === 0 ? null : new Map(JSON.parse(row.extra) as [string, Json][]);
  return {
    id: row.id,
    name: row.name,
    lon: row.lon,
    lat: row.lat,
    category: categoryOfNumber(row.category),
    categorySlug: row.category_slug,
    region: row.region,
    commune: row.commune,
    url: row.url,
    description: row.description,
    comment: row.comment,
    photo: row.photo,
    altitudeText: row.altitude_text,
    altitude: row.altitude,
    summerText: row.summer_text,
    summerCapacity: row.summer_capacity,
    winterText: row.winter_text,
    winterCapacity: row.winter_capacity,
    extra: extra === null ? [] : extraKeys.map((key) => [key, extra.get(key) ?? null] as const),
  };
}

const names = COLUMNS.split(", ");

/** The place of values in the order of `COLUMNS`; its extra values are its own, whatever other places list. */
export function placeOfValues(values: readonly unknown[]): Place {
  const row = Object.fromEntries(names.map((name, index) => [name, values[index]])) as unknown as PlaceRow;
  return placeOfRow(
    row,
    (JSON.parse(row.extra) as [string, Json][]).map(([key]) => key),
  );
}

/** The values of a place, for `COLUMNS`. */
export function rowOf(place: Place): (string | number | null)[] {
  return [
    place.id,
    place.name,
    place.lon,
    place.lat,
    place.category,
    place.categorySlug,
    place.region,
    place.commune,
    place.url,
    place.description,
    place.comment,
    place.photo,
    place.altitudeText,
    place.altitude,
    place.summerText,
    place.summerCapacity,
    place.winterText,
    place.winterCapacity,
    // Null is what every place has under a key that it does not name: whether it names it is no difference.
    JSON.stringify(
      place.extra.filter(([, value]) => value !== null).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    ),
  ];
}
