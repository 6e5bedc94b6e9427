/** OGC KML 2.2: one Document, shared styles, every property as ExtendedData; nothing is fetched from elsewhere. */

import { formatDecimal, type Place } from "../place.js";
import { appearanceOf, type Category, categoryNumbers } from "../taxonomy.js";
import type { About, Format } from "./format.js";
import { extraText, propertyNames, propertyValues } from "./properties.js";
import { element, escapeXml, webAddress } from "./xml.js";

export const kml: Format = {
  mediaType: "application/vnd.google-earth.kml+xml; charset=utf-8",
  prologue,
  place,
  separator: "\n",
  epilogue: () => "\n</Document>\n</kml>\n",
};

const NAMESPACES =
  'xmlns="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:mwm="https://omaps.app"';

function prologue(about: About): string {
  const shown: readonly (Category | null)[] =
    about.category === null ? [...categoryNumbers, null] : [about.category];
  const selection = [
    about.title,
    about.region,
    about.category === null ? null : appearanceOf(about.category).labels.fr,
  ];
  const license = webAddress(about.license);
  const description = [
    escapeXml(about.attribution),
    license === null ? escapeXml(about.license) : `<a href="${escapeXml(license)}">${escapeXml(license)}</a>`,
    `Data of ${about.date.slice(0, 10)}, generation ${escapeXml(about.generation)}, ${escapeXml(about.generator)}`,
  ];
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<kml ${NAMESPACES}>\n<Document>` +
    element("name", selection.filter((part) => part !== null).join(" - ")) +
    `${element("description", description.join("<br/>"))}\n${shown.map(style).join("\n")}\n`
  );
}

/** Google Earth reads the style, Organic Maps the colour in its id. */
function style(category: Category | null): string {
  const { kmlStyle, colour } = appearanceOf(category);
  // KML colours are aabbggrr.
  const [red, green, blue] = [colour.slice(1, 3), colour.slice(3, 5), colour.slice(5, 7)];
  return `<Style id="${kmlStyle}"><IconStyle><color>ff${`${blue}${green}${red}`.toLowerCase()}</color></IconStyle></Style>`;
}

function place(place: Place): string {
  const look = appearanceOf(place.category);
  const link = webAddress(place.url);
  const values = propertyValues(place);
  const known = propertyNames.map((name, index) => data(name, String(values[index] ?? "")));
  const extra = place.extra.map(([key, value]) => data(key, extraText(value)));
  const height = place.altitude === null ? "" : `,${formatDecimal(place.altitude)}`;
  return (
    `<Placemark id="place-${place.id}">` +
    element("name", place.name) +
    (link === null ? "" : `<atom:link href="${escapeXml(link)}"/>`) +
    element("description", balloon(place)) +
    `<styleUrl>#${look.kmlStyle}</styleUrl>` +
    `<ExtendedData>${known.join("")}${extra.join("")}${element("mwm:icon", look.organicMapsIcon)}</ExtendedData>` +
    `<Point><coordinates>${formatDecimal(place.lon)},${formatDecimal(place.lat)}${height}</coordinates></Point></Placemark>`
  );
}

/** A reader shows the description as HTML: text of the source is escaped for HTML here and for XML by `element`. */
function balloon(place: Place): string {
  const height = place.altitude === null ? (place.altitudeText ?? "") : `${formatDecimal(place.altitude)} m`;
  const facts = [appearanceOf(place.category).labels.fr, height, place.commune]
    .filter((fact) => fact !== "")
    .join(" · ");
  return [facts, place.description, place.comment]
    .filter((text) => text !== "")
    .map((text) => escapeXml(text).replaceAll("\n", "<br/>"))
    .join("<br/><br/>");
}

function data(name: string, value: string): string {
  return value === "" ? "" : `<Data name="${escapeXml(name)}"><value>${escapeXml(value)}</value></Data>`;
}
