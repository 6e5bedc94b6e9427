/** Place -> wire properties: the only file that writes wire property names, and the order that clients rely on. */

import type { Json, Place } from "../place.js";

/** The ten keys that existing clients read, then ours; all columns of a record but for position and extra values. */
export const propertyNames = [
  "name",
  "url",
  "descriptif",
  "commentaire",
  "photo",
  "region",
  "altitude",
  "cap_ete",
  "cap_hiver",
  "type_hebergement",
  "type_lieu",
  "id",
  "commune",
  "altitude_m",
  "capacity_summer",
  "capacity_winter",
] as const;

export type PropertyName = (typeof propertyNames)[number];

/** Values of `propertyNames`, one for one. */
export function propertyValues(place: Place): (string | number | null)[] {
  return [
    place.name,
    place.url,
    place.description,
    place.comment,
    place.photo,
    place.region ?? "",
    place.altitudeText,
    place.summerText,
    place.winterText,
    place.categorySlug,
    place.category,
    place.id,
    place.commune,
    place.altitude,
    place.summerCapacity,
    place.winterCapacity,
  ];
}

/** `"key":value,...` without braces: the properties of GeoJSON and the front of a flat JSON record. */
export function propertyMembers(place: Place): string {
  const values = propertyValues(place);
  return propertyNames.map((name, index) => `"${name}":${JSON.stringify(values[index] ?? null)}`).join(",");
}

/** `,"key":value...` for the passed-through values; empty where there are none. */
export function extraMembers(place: Place): string {
  return place.extra.map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`).join("");
}

/** A passed-through value as one text: itself, or JSON; empty for null. */
export function extraText(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
