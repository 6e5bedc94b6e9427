/** GPX 1.1 for old devices: position, height, name, symbol and type of each waypoint, in no namespace but GPX's own. */

import type { Place } from "../place.js";
import { appearanceOf } from "../taxonomy.js";
import type { Format } from "./format.js";
import { gpxHead, waypointStart } from "./gpx.js";
import { element } from "./xml.js";

export const simpleGpx: Format = {
  mediaType: "application/gpx+xml; charset=utf-8",
  prologue: (about) => gpxHead(about, "fr", 'xmlns="http://www.topografix.com/GPX/1/1"'),
  place,
  separator: "\n",
  epilogue: () => "\n</gpx>\n",
};

function place(place: Place): string {
  const look = appearanceOf(place.category);
  return (
    waypointStart(place) +
    `${element("name", place.name)}${element("sym", look.garminSymbol)}${element("type", look.labels.fr)}</wpt>`
  );
}
