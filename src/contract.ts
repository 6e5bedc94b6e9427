/**
 * The contract pack, `contract/` in a release: what a program needs to read our files and answers without having seen one.
 * All of it is made from the tables that parse the requests and encode the answers, so that it cannot say anything else.
 */

import type { About } from "./formats/format.js";
import { formatNames, formats } from "./formats/index.js";
import { openApiDocument, propertySchemas } from "./openapi.js";
import type { Place } from "./place.js";
import { problemDocument, wrongParameters } from "./problem.js";
import { parseQuery } from "./query.js";
import { categories, categoryNumbers, unknownCategory } from "./taxonomy.js";

/** A small text file of a release. */
export interface TextFile {
  readonly path: string;
  readonly mediaType: string;
  readonly text: string;
}

/** Places in a sample: `sample.*` is what the endpoint answers to `limit=3`. */
export const SAMPLE_SIZE = 3;
/** The request that `error.json` answers. */
export const WRONG_REQUEST = "format=pdf&bbox=0.5,42.6,-0.5,43&limit=0";

const JSON_TYPE = "application/json";

/** Every file of the pack; `first` are the first places in canonical order, `about` speaks of all places. */
export function contractFiles(
  about: Omit<About, "region" | "category" | "bbox">,
  first: readonly Place[],
): TextFile[] {
  const whole = { ...about, region: null, category: null, bbox: null };
  return [
    json("openapi.json", openApiDocument()),
    json("record.schema.json", recordSchema()),
    json("categories.json", { categories, unknown: unknownCategory }),
    { path: "contract/places.d.ts", mediaType: "text/plain; charset=utf-8", text: typeDeclarations() },
    ...formatNames.flatMap((name) => {
      const { mediaType, prologue, place, separator, epilogue } = formats[name];
      const document = (places: readonly Place[]): string =>
        prologue(whole) + places.map(place).join(separator) + epilogue(whole);
      return [
        { path: `contract/sample.${name}`, mediaType, text: document(first.slice(0, SAMPLE_SIZE)) },
        { path: `contract/empty.${name}`, mediaType, text: document([]) },
      ];
    }),
    { path: "contract/error.json", mediaType: "application/problem+json", text: errorSample() },
  ];
}

function json(name: string, value: unknown): TextFile {
  return { path: `contract/${name}`, mediaType: JSON_TYPE, text: `${JSON.stringify(value, null, 1)}\n` };
}

function errorSample(): string {
  const parsed = parseQuery(WRONG_REQUEST);
  const faults = "faults" in parsed ? parsed.faults : [];
  return problemDocument(400, wrongParameters(faults), faults);
}

interface PropertySchema {
  readonly type: "string" | "integer" | "number";
  readonly description: string;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Properties of a flat record, in its order. */
const recordProperties: readonly (readonly [name: string, schema: PropertySchema])[] = [
  ...Object.entries(propertySchemas),
  ["longitude", { type: "number", minimum: -180, maximum: 180, description: "Degrees east, WGS84." }],
  ["latitude", { type: "number", minimum: -90, maximum: 90, description: "Degrees north, WGS84." }],
];

/** JSON Schema, draft 2020-12, of one record of the JSON and NDJSON exports. */
function recordSchema(): unknown {
  const properties = recordProperties.map(([name, { nullable = false, type, ...rest }]) => [
    name,
    { type: nullable ? [type, "null"] : type, ...rest },
  ]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A mountain refuge, hut, shelter or ruin",
    type: "object",
    required: recordProperties.map(([name]) => name),
    properties: Object.fromEntries(properties),
    // Whatever else the source sends is passed through.
    additionalProperties: true,
  };
}

/** TypeScript types of records, features and errors. */
function typeDeclarations(): string {
  return `/** Types of what mountain-shelters exports and answers. Generated from the tables of the program. */

/** Category of a place: ${categoryNumbers.map((number) => `${number} ${categories[number].labels.en.toLowerCase()}`).join(", ")}. */
export type Category = ${categoryNumbers.join(" | ")};

/** Properties of a place, in the order in which they stand. */
export interface PlaceProperties {
${Object.entries(propertySchemas).map(member).join("")}  /** Whatever else the source sends. */
  readonly [key: string]: unknown;
}

/** One record of the JSON and NDJSON exports. */
export interface PlaceRecord extends PlaceProperties {
${recordProperties.slice(-2).map(member).join("")}}

/** One place of the GeoJSON export; the third coordinate is the altitude in metres, where it is known. */
export interface PlaceFeature {
  readonly type: "Feature";
  readonly id: number;
  readonly geometry: {
    readonly type: "Point";
    readonly coordinates: readonly [longitude: number, latitude: number, altitude?: number];
  };
  readonly properties: PlaceProperties;
}

/** The GeoJSON export, and the answer to \`format=geojson\`. */
export interface PlaceCollection {
  readonly type: "FeatureCollection";
  readonly generator: string;
  readonly attribution: string;
  readonly license: string;
  readonly generation: string;
  /** When the data were pulled, ISO 8601. */
  readonly timeStamp: string;
  readonly title: string;
  readonly bbox?: readonly [west: number, south: number, east: number, north: number];
  readonly features: readonly PlaceFeature[];
}

/** An error, RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly errors?: readonly {
    readonly parameter: string;
    readonly value: string;
    readonly expected: string;
    readonly example: string;
  }[];
}
`;
}

function member([name, { type, nullable = false, description }]: readonly [string, PropertySchema]): string {
  const base = name === "type_lieu" ? "Category" : type === "string" ? "string" : "number";
  return `  /** ${description} */\n  readonly ${name}: ${base}${nullable ? " | null" : ""};\n`;
}
