/** Documents that the page cuts itself, where no server does: the same encoders on the same records, so the same bytes. */

import type { Feature, FeatureCollection, Point } from "geojson";
import type { About } from "../formats/format.js";
import type { propertyNames } from "../formats/properties.js";
import type { BBox, Json, Place } from "../place.js";
import type { Category } from "../taxonomy.js";
import { type FormatName, formats } from "./formats.js";

/** A whole export, as it was read. */
export type ExportDocument = FeatureCollection<Point, Record<string, Json>> &
  Readonly<Record<"generator" | "attribution" | "license" | "generation" | "timeStamp" | "title", string>>;

export interface CutQuery {
  readonly format: FormatName;
  readonly bbox: BBox | null;
  readonly region: string | null;
  readonly category: Category | null;
  readonly limit?: number;
  readonly offset?: number;
}

export interface CutDocument {
  readonly text: string;
  readonly mediaType: string;
  readonly matched: number;
  readonly returned: number;
}

/** The document of a query; `also` narrows it further than a query can. `extraKeys` are those of the release. */
export function cutDocument(
  whole: ExportDocument,
  extraKeys: readonly string[],
  query: CutQuery,
  also: (place: Place) => boolean = () => true,
): CutDocument {
  const format = formats[query.format];
  const { bbox, region, category, offset = 0, limit = Number.POSITIVE_INFINITY } = query;
  const matching = whole.features
    .map((feature) => placeOf(feature, extraKeys))
    .filter((place) => isAsked(place, bbox, region, category) && also(place));
  const places = matching.slice(offset, offset + limit);
  const about: About = {
    title: whole.title,
    attribution: whole.attribution,
    license: whole.license,
    date: whole.timeStamp,
    generator: whole.generator,
    generation: whole.generation,
    extraKeys,
    region,
    category,
    // As in the ready-made files; in what is cut out of them a box of what is found would mislead.
    bbox: bbox === null && places.length === matching.length ? boxAround(places) : null,
  };
  const body = places.map((place) => format.place(place)).join(format.separator);
  return {
    text: format.prologue(about) + body + format.epilogue(about),
    mediaType: format.mediaType,
    matched: matching.length,
    returned: places.length,
  };
}

function isAsked(
  { lon, lat, region, category }: Place,
  box: BBox | null,
  wantedRegion: string | null,
  wantedCategory: Category | null,
): boolean {
  return (
    (box === null || (lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north)) &&
    (wantedRegion === null || region === wantedRegion) &&
    (wantedCategory === null || category === wantedCategory)
  );
}

function boxAround(places: readonly Place[]): BBox | null {
  if (places.length === 0) return null;
  const box = { west: 180, south: 90, east: -180, north: -90 };
  for (const { lon, lat } of places) {
    box.west = Math.min(box.west, lon);
    box.south = Math.min(box.south, lat);
    box.east = Math.max(box.east, lon);
    box.north = Math.max(box.north, lat);
  }
  return box;
}

/** A Feature of our own export as the Place that it was written from. */
export function placeOf(feature: Feature<Point, Record<string, Json>>, extraKeys: readonly string[]): Place {
  const { properties } = feature;
  const [lon = 0, lat = 0] = feature.geometry.coordinates;
  // The file is our own: each property holds what formats/properties.ts wrote, which is the type that Place names.
  const own = (name: (typeof propertyNames)[number]) => properties[name] as never;
  const region: string = own("region");
  return {
    id: own("id"),
    name: own("name"),
    lon,
    lat,
    category: own("type_lieu"),
    categorySlug: own("type_hebergement"),
    region: region === "" ? null : region,
    commune: own("commune"),
    url: own("url"),
    description: own("descriptif"),
    comment: own("commentaire"),
    photo: own("photo"),
    altitudeText: own("altitude"),
    altitude: own("altitude_m"),
    summerText: own("cap_ete"),
    summerCapacity: own("capacity_summer"),
    winterText: own("cap_hiver"),
    winterCapacity: own("capacity_winter"),
    extra: extraKeys.map((key) => [key, properties[key] ?? null] as const),
  };
}
