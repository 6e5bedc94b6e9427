/**
 * The only gate into the domain: one record of a source in, a Place or a reason for refusing it out. Positions are never
 * guessed: a doubtful one is refused. A poor label never loses a hut: it is repaired, and the repair is counted.
 */

import { decodeHTML } from "entities";
import { readNumbers } from "./measures.js";
import type { Json, Place } from "./place.js";
import { parsePosition } from "./position.js";
import { describe, type Fields, type Flat, flatten, idDigits, isObject, isServiceLayout } from "./record.js";
import { type OptionalRepair, type Refusal, Refused, type Repair } from "./repairs.js";
import { type Category, categories, categoryOfNumber, categoryOfSlug } from "./taxonomy.js";
import { cleanLabel, cleanText, isUsableLabel } from "./text.js";

/** What the requests of a pull say of a record that the record itself does not: they are better founded. */
export interface Sighting {
  /** The region whose request returned it; null = none did. */
  readonly region: string | null;
  /** The category whose request returned it; null = none did, or the service knows no such request. */
  readonly category: Category | null;
  /** Its comment is its own, not the one of the record before it. */
  readonly ownComment: boolean;
}

export type Parsed =
  | { readonly place: Place; readonly repairs: readonly Repair[] }
  | { readonly refused: Refusal; readonly record: string };

const limits = {
  label: 300, // characters of a name, region, commune
  text: 100_000, // characters of any other text
  depth: 8, // nesting of values that are passed through
  id: 2 ** 31 - 1, // GPX readers and vector tiles hold ids in 32 bits
} as const;

/** The service's file name for "no photo". */
export const NO_PHOTO = "refugesansphoto.jpg";

/** The keys that become fields of a Place; every other key is passed through. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(
  (
    "name url descriptif commentaire photo region altitude cap_ete cap_hiver type_hebergement " +
    "type_lieu category id commune altitude_m capacity capacity_summer capacity_winter longitude latitude"
  ).split(" "),
);

/**
 * Reads records in order; it remembers the record before, because the known service repeats its comment. A sighting says
 * what the requests of a pull know better than the record.
 */
export function createPlaceParser(
  without: ReadonlySet<OptionalRepair> = new Set(),
): (record: unknown, sighting?: Sighting) => Parsed {
  let previousComment = "";
  return (record, sighting) => {
    const flat = flatten(record);
    if (flat === null) return { refused: "not a record", record: describe(record) };
    const comment = flat.fields["commentaire"];
    const repeated =
      !without.has("comments") &&
      isServiceLayout(flat.fields) &&
      typeof comment === "string" &&
      comment.trim() !== "" &&
      (sighting === undefined ? comment === previousComment : !sighting.ownComment);
    previousComment = typeof comment === "string" ? comment : "";
    try {
      return parseFlat(flat, repeated, sighting, without);
    } catch (error) {
      if (error instanceof Refused) return { refused: error.reason, record: describe(record) };
      throw error;
    }
  };
}

function parseFlat(
  { fields, lon, lat, id }: Flat,
  commentRepeated: boolean,
  sighting: Sighting | undefined,
  without: ReadonlySet<OptionalRepair>,
): Parsed {
  const repairs = new Set<Repair>();
  const serviceLayout = isServiceLayout(fields);
  const decodes = serviceLayout && !without.has("entities");
  const text = (key: string): string => readText(fields[key], limits.text, decodes, repairs, cleanText);
  const label = (key: string): string =>
    readText(fields[key], limits.label, decodes, repairs, (raw) =>
      cleanLabel(decodes ? stripMarkup(raw, repairs) : raw),
    );

  const position = parsePosition(lon, lat);
  const url = text("url").trim();
  const number = parseId(id, url);
  const { category, categorySlug } = parseCategory(
    fields,
    label("type_hebergement"),
    sighting?.category ?? null,
    repairs,
  );
  const region =
    sighting !== undefined ? cleanLabel(sighting.region ?? "") : serviceLayout ? "" : label("region");
  if (region === "") repairs.add("region missing");
  const altitudeText = text("altitude") || text("altitude_m");
  const summerText = text("cap_ete") || text("capacity_summer") || text("capacity");
  const winterText = text("cap_hiver") || text("capacity_winter");
  if (commentRepeated) repairs.add("comment repeated");
  const photo = text("photo").trim();
  if (serviceLayout && photo === "" && !without.has("photo")) repairs.add("photo missing");
  const numbers = readNumbers(
    fields,
    { altitude: altitudeText, summer: summerText, winter: winterText, plainOnly: without.has("numbers") },
    () => {
      if (serviceLayout) repairs.add("number read from text");
    },
  );

  const place: Place = {
    id: number,
    name: parseName(label("name"), number, repairs),
    ...position,
    category,
    categorySlug,
    region: region === "" ? null : region,
    commune: label(serviceLayout ? "region" : "commune"),
    // Existing clients take the id from behind the "=" of the address.
    url: url === "" ? `/?id=${number}` : url,
    description: text("descriptif"),
    comment: commentRepeated ? "" : text("commentaire"),
    photo: photo === "" && !without.has("photo") ? NO_PHOTO : photo,
    altitudeText: altitudeText === "" ? null : altitudeText,
    summerText,
    winterText,
    ...numbers,
    extra: parseExtra(fields),
  };
  return { place, repairs: [...repairs] };
}

/** What is passed through; two keys that clean to the same one count as one, the last wins as in JSON. */
function parseExtra(fields: Fields): Place["extra"] {
  const entries = Object.entries(fields).map(([key, value]) => [cleanLabel(key), value] as const);
  const unknown = new Map(entries.filter(([key]) => key !== "" && !KNOWN_KEYS.has(key)));
  return [...unknown].map(([key, value]) => [key, cleanJson(value, 0)] as const);
}

function parseName(name: string, id: number, repairs: Set<Repair>): string {
  if (isUsableLabel(name)) return name;
  repairs.add("name missing");
  return `Sans nom ${id}`;
}

/** The integer id, or the integer at the end of the address. */
function parseId(value: unknown, url: string): number {
  const digits = idDigits(value, url);
  const id = /^\d{1,10}$/.test(digits) ? Number(digits) : 0;
  if (id < 1 || id > limits.id) throw new Refused("no id");
  return id;
}

/** The number (`type_lieu`) is better founded than the slug, which the service leaves empty now and then. */
function parseCategory(
  fields: Fields,
  slug: string,
  asked: Category | null,
  repairs: Set<Repair>,
): { category: Category | null; categorySlug: string } {
  const byNumber = asked ?? categoryOfNumber(fields["type_lieu"]) ?? categoryOfNumber(fields["category"]);
  const bySlug = categoryOfSlug(slug);
  const category = byNumber ?? bySlug;
  if (category === null) {
    repairs.add("category unknown");
    return { category, categorySlug: slug };
  }
  if (byNumber !== null && slug !== "" && bySlug !== byNumber) repairs.add("category contradicted");
  return { category, categorySlug: categories[category].slug };
}

function readText(
  value: unknown,
  limit: number,
  decodes: boolean,
  repairs: Set<Repair>,
  clean: (text: string) => string,
): string {
  if (value === null || value === undefined) return "";
  const raw = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (raw.length > limit) throw new Refused("text too long");
  const decoded = decodes ? decodeHTML(raw).replaceAll("\\'", "'") : raw;
  if (decoded !== raw) repairs.add("entities decoded");
  const cleaned = clean(decoded);
  // Trimming and CRLF are how the source writes; anything more is damage worth a count.
  if (
    cleaned.trim() !== decoded.replace(/\r\n?/g, "\n").trim() &&
    cleaned !== decoded.replace(/\s+/g, " ").trim()
  )
    repairs.add("text cleaned");
  return cleaned;
}

/** Tags of HTML in a label are how somebody typed it, not part of the name. */
function stripMarkup(label: string, repairs: Set<Repair>): string {
  const stripped = label.replace(/<\/?[a-z][^<>]*>/gi, " ");
  if (stripped !== label) repairs.add("markup removed");
  return stripped;
}

function cleanJson(value: unknown, depth: number): Json {
  if (depth > limits.depth) throw new Refused("too deep");
  if (typeof value === "string") {
    if (value.length > limits.text) throw new Refused("text too long");
    return cleanText(value);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item, depth + 1)]),
    );
  return null;
}
