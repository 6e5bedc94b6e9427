/** GeoJSON, RFC 7946: one Feature a line, foreign members at the top level only. */

import { formatDecimal, type Place } from "../place.js";
import type { About, Format } from "./format.js";
import { extraMembers, propertyMembers } from "./properties.js";

export const geojson: Format = {
  mediaType: "application/geo+json",
  prologue,
  place,
  separator: ",\n",
  epilogue: () => "\n]}\n",
};

function prologue(about: About): string {
  const members = {
    type: "FeatureCollection",
    generator: about.generator,
    attribution: about.attribution,
    license: about.license,
    generation: about.generation,
    timeStamp: about.date,
    title: about.title,
  };
  // Section 5: west, south, east, north; absent rather than invented for an empty collection.
  const bbox =
    about.bbox === null
      ? ""
      : `,"bbox":[${[about.bbox.west, about.bbox.south, about.bbox.east, about.bbox.north].map((edge) => formatDecimal(edge)).join(",")}]`;
  return `${JSON.stringify(members).slice(0, -1)}${bbox},"features":[\n`;
}

function place(place: Place): string {
  // Section 3.1.1: a third coordinate is a height in metres; it stands only where it is known.
  const height = place.altitude === null ? "" : `,${formatDecimal(place.altitude)}`;
  const coordinates = `[${formatDecimal(place.lon)},${formatDecimal(place.lat)}${height}]`;
  return `{"type":"Feature","id":${place.id},"geometry":{"type":"Point","coordinates":${coordinates}},"properties":{${propertyMembers(place)}${extraMembers(place)}}}`;
}
