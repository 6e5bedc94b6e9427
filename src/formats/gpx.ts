/** GPX 1.1 waypoints, with the symbols and groups that OsmAnd, Garmin, Locus and Organic Maps read. */

import { formatDecimal, type Place } from "../place.js";
import { appearanceOf, type Language } from "../taxonomy.js";
import type { About, Format } from "./format.js";
import { ageLine, documentTitle, factsLine, shownCategories } from "./words.js";
import { element, escapeXml, webAddress } from "./xml.js";

/** GPX whose symbols, groups and facts are named in a language; the texts of the source stay as they are. */
export function gpxIn(language: Language): Format {
  return {
    mediaType: "application/gpx+xml; charset=utf-8",
    prologue: (about) => gpxHead(about, language, NAMESPACES),
    place: (place) => waypoint(place, language),
    separator: "\n",
    epilogue: (about) => epilogue(about, language),
  };
}

/** GPX with the labels of the source, in French. */
export const gpx: Format = gpxIn("fr");

// Namespaces are names, not addresses: http and https are different ones, and without OsmAnd's its reader stops after one waypoint.
const OSMAND = "https://osmand.net/docs/technical/osmand-file-formats/osmand-gpx";
const NAMESPACES = `xmlns="http://www.topografix.com/GPX/1/1" xmlns:osmand="${OSMAND}"`;

// The schema's longitudeType leaves 180 out: that meridian is -180 in GPX.
const EASTERNMOST = 179.9999999;

/** From the XML declaration to the end of the metadata. */
export function gpxHead(about: About, language: Language, namespaces: string): string {
  const copyright = `<copyright author="${escapeXml(about.attribution)}"><year>${about.date.slice(0, 4)}</year>${element("license", webAddress(about.license))}</copyright>`;
  const { bbox } = about;
  const bounds =
    bbox === null
      ? ""
      : `<bounds minlat="${formatDecimal(bbox.south)}" minlon="${formatDecimal(bbox.west)}" maxlat="${formatDecimal(bbox.north)}" maxlon="${formatDecimal(Math.min(bbox.east, EASTERNMOST))}"/>`;
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="${escapeXml(about.generator)}" ${namespaces}>\n<metadata>` +
    element("name", documentTitle(about, language)) +
    // Readers that show no copyright show this.
    element("desc", `${about.attribution} ${about.license} ${ageLine(about, language)}`) +
    `${copyright}<time>${about.date}</time><keywords>refuge, hut, shelter, cabane, refugio, refugi</keywords>${bounds}</metadata>\n`
  );
}

/** The waypoint's start tag, with its height where it is known. */
export function waypointStart({ lon, lat, altitude }: Place): string {
  const height = altitude === null ? "" : `<ele>${formatDecimal(altitude)}</ele>`;
  return `<wpt lat="${formatDecimal(lat)}" lon="${formatDecimal(lon > EASTERNMOST ? -180 : lon)}">${height}`;
}

function waypoint(place: Place, language: Language): string {
  const look = appearanceOf(place.category);
  const link = webAddress(place.url);
  return (
    waypointStart(place) +
    element("name", place.name) +
    element("cmt", factsLine(place, language)) +
    element("desc", [place.description, place.comment].filter((text) => text !== "").join("\n\n")) +
    (link === null ? "" : `<link href="${escapeXml(link)}"/>`) +
    element("sym", look.garminSymbol) +
    element("type", look.labels[language]) +
    `<extensions>${element("osmand:icon", look.osmandIcon)}${element("osmand:background", look.osmandBackground)}${element("osmand:color", look.colour)}</extensions></wpt>`
  );
}

function epilogue(about: About, language: Language): string {
  const groups = shownCategories(about).map((category) => {
    const look = appearanceOf(category);
    return `<group name="${escapeXml(look.labels[language])}" color="${look.colour}" icon="${look.osmandIcon}" background="${look.osmandBackground}"/>`;
  });
  // OsmAnd's reader looks for an element called `group`, without a prefix; the schema wants it in OsmAnd's namespace: both get it.
  return `\n<extensions><osmand:points_groups xmlns="${OSMAND}">${groups.join("")}</osmand:points_groups></extensions>\n</gpx>\n`;
}
