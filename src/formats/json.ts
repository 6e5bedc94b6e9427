/** JSON: a bare array of flat records, one a line, every key always there. */

import { formatDecimal } from "../place.js";
import type { Format } from "./format.js";
import { extraMembers, propertyMembers } from "./properties.js";

export const json: Format = {
  mediaType: "application/json",
  prologue: () => "[\n",
  place: (place) =>
    `{${propertyMembers(place)},"longitude":${formatDecimal(place.lon)},"latitude":${formatDecimal(place.lat)}${extraMembers(place)}}`,
  separator: ",\n",
  epilogue: () => "\n]\n",
};
