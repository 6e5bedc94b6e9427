/** GPX 1.1 waypoints, with the symbols and groups that OsmAnd, Garmin, Locus and Organic Maps read. */

import { formatDecimal, type Place } from "../place.js";
import { appearanceOf, type Category, categoryNumbers } from "../taxonomy.js";
import type { About, Format } from "./format.js";
import { element, escapeXml, webAddress } from "./xml.js";

export const gpx: Format = {
  mediaType: "application/gpx+xml; charset=utf-8",
  prologue,
  place,
  separator: "\n",
  epilogue,
};

// Namespaces are names, not addresses: http and https are different ones, and without OsmAnd's its reader stops after one waypoint.
const NAMESPACES =
  'xmlns="http://www.topografix.com/GPX/1/1" xmlns:osmand="https://osmand.net/docs/technical/osmand-file-formats/osmand-gpx"';

// The schema's longitudeType leaves 180 out: that meridian is -180 in GPX.
const EASTERNMOST = 179.9999999;

function prologue(about: About): string {
  const license = webAddress(about.license);
  const copyright = `<copyright author="${escapeXml(about.attribution)}"><year>${about.date.slice(0, 4)}</year>${element("license", license)}</copyright>`;
  const { bbox } = about;
  const bounds =
    bbox === null
      ? ""
      : `<bounds minlat="${formatDecimal(bbox.south)}" minlon="${formatDecimal(bbox.west)}" maxlat="${formatDecimal(bbox.north)}" maxlon="${formatDecimal(Math.min(bbox.east, EASTERNMOST))}"/>`;
  const selection = [
    about.title,
    about.region,
    about.category === null ? null : appearanceOf(about.category).labels.fr,
  ];
  const facts =
    `Data of ${about.date.slice(0, 10)}. Generation ${about.generation}. ${license === null ? about.license : ""}`.trim();
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="${escapeXml(about.generator)}" ${NAMESPACES}>\n<metadata>` +
    element("name", selection.filter((part) => part !== null).join(" - ")) +
    element("desc", `${about.attribution} ${facts}`) +
    `${copyright}<time>${about.date}</time><keywords>refuge, hut, shelter, cabane, refugio, refugi</keywords>${bounds}</metadata>\n`
  );
}

function place(place: Place): string {
  const look = appearanceOf(place.category);
  const link = webAddress(place.url);
  return (
    `<wpt lat="${formatDecimal(place.lat)}" lon="${formatDecimal(place.lon > EASTERNMOST ? -180 : place.lon)}">` +
    (place.altitude === null ? "" : `<ele>${formatDecimal(place.altitude)}</ele>`) +
    element("name", place.name) +
    element("cmt", facts(place)) +
    element("desc", [place.description, place.comment].filter((text) => text !== "").join("\n\n")) +
    (link === null ? "" : `<link href="${escapeXml(link)}"/>`) +
    element("sym", look.garminSymbol) +
    element("type", look.labels.fr) +
    `<extensions>${element("osmand:icon", look.osmandIcon)}${element("osmand:background", look.osmandBackground)}${element("osmand:color", look.colour)}</extensions></wpt>`
  );
}

/** Category, altitude and sleeping places in one short line: what a list on a small screen shows. */
function facts(place: Place): string {
  return [
    appearanceOf(place.category).labels.fr,
    place.altitude === null ? place.altitudeText : `${formatDecimal(place.altitude)} m`,
    capacity("été", place.summerCapacity, place.summerText),
    capacity("hiver", place.winterCapacity, place.winterText),
    place.commune,
  ]
    .filter((fact) => fact !== null && fact.trim() !== "")
    .join(" · ");
}

function capacity(season: string, count: number | null, text: string): string | null {
  // "0" stands for "none or unknown" in the source: it is no fact to show.
  if (count === null && /^[\s0]*$/.test(text)) return null;
  return `${season} ${count ?? text.trim()} pl.`;
}

function epilogue({ category }: About): string {
  const shown: readonly (Category | null)[] = category === null ? [...categoryNumbers, null] : [category];
  const groups = shown.map((shownCategory) => {
    const look = appearanceOf(shownCategory);
    return `<osmand:group name="${escapeXml(look.labels.fr)}" color="${look.colour}" icon="${look.osmandIcon}" background="${look.osmandBackground}"/>`;
  });
  return `\n<extensions><osmand:points_groups>${groups.join("")}</osmand:points_groups></extensions>\n</gpx>\n`;
}
