/** OGC KML 2.2: one Document, shared styles, every property as ExtendedData; nothing is fetched from elsewhere. */

import { formatDecimal, type Place } from "../place.js";
import { appearanceOf, type Category, type Language } from "../taxonomy.js";
import type { About, Format } from "./format.js";
import { extraText, propertyNames, propertyValues } from "./properties.js";
import { ageLine, documentTitle, factsLine, shownCategories } from "./words.js";
import { element, escapeXml, webAddress } from "./xml.js";

/** How a category is drawn: the content of its `IconStyle`. */
type IconStyle = (category: Category | null) => string;

/** KML whose labels and facts are named in a language; the texts of the source stay as they are. */
export function kmlIn(language: Language, iconStyle: IconStyle = colouredPin): Format {
  return {
    mediaType: "application/vnd.google-earth.kml+xml; charset=utf-8",
    prologue: (about) => prologue(about, language, iconStyle),
    place: (place) => placemark(place, language),
    separator: "\n",
    epilogue: () => "\n</Document>\n</kml>\n",
  };
}

/** KML with the labels of the source, in French. */
export const kml: Format = kmlIn("fr");

const NAMESPACES =
  'xmlns="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:mwm="https://omaps.app"';

function prologue(about: About, language: Language, iconStyle: IconStyle): string {
  const license = webAddress(about.license);
  const description = [
    escapeXml(about.attribution),
    license === null ? escapeXml(about.license) : `<a href="${escapeXml(license)}">${escapeXml(license)}</a>`,
    escapeXml(`${ageLine(about, language)} ${about.generator}`),
  ];
  // Google Earth reads the style, Organic Maps the colour in its id.
  const styles = shownCategories(about).map(
    (category) =>
      `<Style id="${appearanceOf(category).kmlStyle}"><IconStyle>${iconStyle(category)}</IconStyle></Style>`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<kml ${NAMESPACES}>\n<Document>` +
    element("name", documentTitle(about, language)) +
    `${element("description", description.join("<br/>"))}\n${styles.join("\n")}\n`
  );
}

/** The reader's own pin in the category's colour: a KML file alone has no icons, and a remote one is missing offline. */
function colouredPin(category: Category | null): string {
  const { colour } = appearanceOf(category);
  // KML colours are aabbggrr.
  const [red, green, blue] = [colour.slice(1, 3), colour.slice(3, 5), colour.slice(5, 7)];
  return `<color>ff${`${blue}${green}${red}`.toLowerCase()}</color>`;
}

function placemark(place: Place, language: Language): string {
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
    element("description", balloon(place, language)) +
    `<styleUrl>#${look.kmlStyle}</styleUrl>` +
    `<ExtendedData>${known.join("")}${extra.join("")}${element("mwm:icon", look.organicMapsIcon)}</ExtendedData>` +
    `<Point><coordinates>${formatDecimal(place.lon)},${formatDecimal(place.lat)}${height}</coordinates></Point></Placemark>`
  );
}

/** A reader shows the description as HTML: text of the source is escaped for HTML here and for XML by `element`. */
function balloon(place: Place, language: Language): string {
  return [factsLine(place, language), place.description, place.comment]
    .filter((text) => text !== "")
    .map((text) => escapeXml(text).replaceAll("\n", "<br/>"))
    .join("<br/><br/>");
}

function data(name: string, value: string): string {
  return value === "" ? "" : `<Data name="${escapeXml(name)}"><value>${escapeXml(value)}</value></Data>`;
}
