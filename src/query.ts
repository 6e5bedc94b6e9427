/** The wire parameters of `/api.php`: one table that parses them, and that documents them in OpenAPI and the README. */

import { type FormatName, formatNames } from "./formats/index.js";
import type { BBox } from "./place.js";
import { type Category, categoryOfNumber } from "./taxonomy.js";

/** Which places; null = no restriction. */
export interface Filter {
  readonly bbox: BBox | null;
  readonly category: Category | null;
  readonly region: string | null;
}

/** A request, fully checked. */
export interface Query extends Filter {
  readonly format: FormatName;
  readonly limit: number;
  readonly offset: number;
}

/** What is wrong with one parameter. */
export interface Fault {
  readonly parameter: string;
  readonly value: string;
  readonly expected: string;
  readonly example: string;
}

export const queryLimits = {
  limit: 20_000, // most places of one answer
  defaultLimit: 10_000,
  offset: 1_000_000,
  shownValue: 100, // characters of a wrong value that are repeated in the answer
} as const;

export interface Parameter<Value> {
  /** Accepted names, the preferred one first; if several are sent, the first wins. */
  readonly names: readonly [string, ...string[]];
  readonly description: string;
  readonly expected: string;
  readonly example: string;
  /** Of the first name; the schema of OpenAPI 3.0.3. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly fallback: Value;
  /** The value, or what is wrong with the text: `expected`, or more to the point. */
  parse(text: string): { readonly value: Value } | { readonly fault: string };
}

const formatExpected = `one of ${formatNames.join(", ")}, in any case`;
const bboxExpected =
  "west,south,east,north: four plain decimal numbers, degrees, lon -180..180, lat -90..90, west <= east, south <= north";

export const parameters: { readonly [Field in keyof Query]: Parameter<Query[Field]> } = {
  format: {
    names: ["format", "type_fichier"],
    description:
      "Format of the answer, in any case. `format` wins over its alias `type_fichier` when both are sent.",
    expected: formatExpected,
    example: "geojson",
    schema: { type: "string", enum: formatNames, default: "geojson" },
    fallback: "geojson",
    parse: (text) => {
      const value = formatNames.find((name) => name === text.toLowerCase());
      return value === undefined ? { fault: formatExpected } : { value };
    },
  },
  bbox: {
    names: ["bbox"],
    description:
      "Only places inside this box, edges included: west,south,east,north in decimal degrees (WGS84).",
    expected: bboxExpected,
    example: "-0.5,42.6,0.5,43",
    schema: { type: "string", pattern: "^-?\\d+(\\.\\d+)?(,-?\\d+(\\.\\d+)?){3}$" },
    fallback: null,
    parse: parseBBox,
  },
  category: {
    names: ["type_lieu"],
    description: "Only places of this category, 1 to 7; `all` for every place.",
    expected: "all, or a category from 1 to 7",
    example: "5",
    schema: { type: "string", enum: ["all", "1", "2", "3", "4", "5", "6", "7"], default: "all" },
    fallback: null,
    parse: (text) => {
      const value = categoryOfNumber(text);
      return value === null && text !== "all" ? { fault: "all, or a category from 1 to 7" } : { value };
    },
  },
  region: {
    names: ["region"],
    description:
      "Only places of this region, exactly as registered. An unknown region gives an empty document.",
    expected: "the exact name of a region",
    example: "Aragon",
    schema: { type: "string" },
    fallback: null,
    parse: (text) => ({ value: text.normalize("NFC") }),
  },
  limit: {
    names: ["limit"],
    description: "At most this many places.",
    expected: `an integer from 1 to ${queryLimits.limit}, plain digits`,
    example: "100",
    schema: { type: "integer", minimum: 1, maximum: queryLimits.limit, default: queryLimits.defaultLimit },
    fallback: queryLimits.defaultLimit,
    parse: (text) => parseInteger(text, 1, queryLimits.limit),
  },
  offset: {
    names: ["offset"],
    description: "Skip this many places; the order is the same in every answer of a release.",
    expected: `an integer from 0 to ${queryLimits.offset}, plain digits`,
    example: "0",
    schema: { type: "integer", minimum: 0, maximum: queryLimits.offset, default: 0 },
    fallback: 0,
    parse: (text) => parseInteger(text, 0, queryLimits.offset),
  },
};

/**
 * Reads a query string (without `?`). Parameters that are not in the table are ignored; every fault of those that are is
 * reported. Names are case-sensitive; an empty or repeated parameter is a fault.
 */
export function parseQuery(
  search: string,
): { readonly query: Query } | { readonly faults: readonly Fault[] } {
  const sent = new URLSearchParams(search);
  const faults: Fault[] = [];
  const query: Query = {
    format: readParameter(parameters.format, sent, faults),
    bbox: readParameter(parameters.bbox, sent, faults),
    category: readParameter(parameters.category, sent, faults),
    region: readParameter(parameters.region, sent, faults),
    limit: readParameter(parameters.limit, sent, faults),
    offset: readParameter(parameters.offset, sent, faults),
  };
  return faults.length > 0 ? { faults } : { query };
}

function readParameter<Value>(parameter: Parameter<Value>, sent: URLSearchParams, faults: Fault[]): Value {
  let result = parameter.fallback;
  let isSettled = false;
  for (const name of parameter.names) {
    const values = sent.getAll(name);
    const [text] = values;
    if (text === undefined) continue;
    const fault = (expected: string): void => {
      const value = values.join(" and ").slice(0, queryLimits.shownValue);
      faults.push({ parameter: name, value, expected, example: `${name}=${parameter.example}` });
    };
    if (values.length > 1) fault(`once: ${parameter.expected}`);
    else if (text === "") fault(`not empty: ${parameter.expected}`);
    else if (!isSettled) {
      const parsed = parameter.parse(text);
      if ("fault" in parsed) fault(parsed.fault);
      else result = parsed.value;
      isSettled = true;
    }
  }
  return result;
}

function parseInteger(
  text: string,
  least: number,
  most: number,
): { readonly value: number } | { readonly fault: string } {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most
    ? { value }
    : { fault: `an integer from ${least} to ${most}, plain digits` };
}

function parseBBox(text: string): { readonly value: BBox } | { readonly fault: string } {
  if (!/^-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3}$/.test(text)) return { fault: bboxExpected };
  const [west = 0, south = 0, east = 0, north = 0] = text.split(",").map((edge) => Number(edge) + 0); // + 0: never -0
  const wrong = [
    Math.abs(west) > 180 || Math.abs(east) > 180 ? "longitudes from -180 to 180" : null,
    Math.abs(south) > 90 || Math.abs(north) > 90 ? "latitudes from -90 to 90" : null,
    south > north ? `south <= north (got ${south} > ${north})` : null,
    west > east ? `west <= east (got ${west} > ${east}; a box cannot cross the antimeridian)` : null,
  ].filter((part) => part !== null);
  if (wrong.length === 0) return { value: { west, south, east, north } };
  return {
    fault: `${bboxExpected}. Here: ${wrong.join("; ")}${looksSwapped(west, south, east, north) ? "; latitude and longitude look swapped" : ""}`,
  };
}

/** Reading each corner as latitude, longitude would make a valid box. Never so where west and east alone are exchanged. */
function looksSwapped(west: number, south: number, east: number, north: number): boolean {
  const isLatitude = (edge: number): boolean => Math.abs(edge) <= 90;
  const isLongitude = (edge: number): boolean => Math.abs(edge) <= 180;
  const isInRange = isLatitude(west) && isLatitude(east) && isLongitude(south) && isLongitude(north);
  return isInRange && west <= east && south <= north;
}

/** The canonical query string of a request: what is not the default, in the order of the table. */
export function formatQuery(query: Query): string {
  const { bbox, category, region, limit, offset, format } = query;
  const sent = new URLSearchParams({ format });
  if (bbox !== null)
    sent.set("bbox", [bbox.west, bbox.south, bbox.east, bbox.north].map(plainDecimal).join(","));
  if (category !== null) sent.set("type_lieu", String(category));
  if (region !== null) sent.set("region", region);
  if (limit !== queryLimits.defaultLimit) sent.set("limit", String(limit));
  if (offset !== 0) sent.set("offset", String(offset));
  return sent.toString();
}

/** Every digit of a number below 1e21 and no exponent, which `parseBBox` refuses. */
function plainDecimal(value: number): string {
  const [, sign = "", digits = "", exponent = ""] = /^(-?)([\d.]+)e-(\d+)$/.exec(String(value)) ?? [];
  return exponent === ""
    ? String(value)
    : `${sign}0.${"0".repeat(Number(exponent) - 1)}${digits.replace(".", "")}`;
}
