/** The OpenAPI 3.0.3 document, from the same tables that parse a request and encode an answer. */

import { formatNames, formats } from "./formats/index.js";
import type { PropertyName } from "./formats/properties.js";
import { type Parameter, parameters } from "./query.js";

/** API version of the contract, not of the program. */
const API_VERSION = "1.0.0";

/** `/openapi.json`. Deterministic: it says nothing of the data. */
export function openApiDocument(): unknown {
  return {
    openapi: "3.0.3",
    info: {
      title: "Mountain shelters",
      version: API_VERSION,
      description:
        "Refuges, huts, shelters and ruins of the mountains, read only. No key, no rate limit, any origin. The same order and the same bytes in every answer of a release.",
      license: {
        name: "MIT (the program); the data have terms of their own, see terms.txt",
        url: "https://spdx.org/licenses/MIT.html",
      },
    },
    servers: [{ url: "/" }],
    tags: [{ name: "places", description: "Mountain refuges, huts, shelters and ruins" }],
    paths: {
      "/api.php": {
        get: {
          operationId: "getPlaces",
          tags: ["places"],
          summary: "Places, filtered and paged",
          description:
            "Unknown parameters are ignored. A known one that is empty or repeated is an error. All faults of a request are reported together.",
          parameters: Object.values(parameters).flatMap(describeParameter),
          responses: {
            200: {
              description: "The places; an empty document of the format where there are none.",
              headers: {
                "OGC-NumberMatched": {
                  description: "Places that the filter selects.",
                  schema: { type: "integer", minimum: 0 },
                },
                "OGC-NumberReturned": {
                  description: "Places in this answer.",
                  schema: { type: "integer", minimum: 0 },
                },
                Link: {
                  description: "next and prev pages, license, service-desc (RFC 8288).",
                  schema: { type: "string" },
                },
                ETag: {
                  description: "Strong validator of this coding of this answer.",
                  schema: { type: "string" },
                },
              },
              content: Object.fromEntries(
                formatNames.map((format) => [
                  formats[format].mediaType.split(";")[0],
                  { schema: answerSchema(format) },
                ]),
              ),
            },
            304: { description: "Not modified: the answer still has the ETag that If-None-Match names." },
            400: problem("One or more parameters are wrong."),
            405: problem("Only GET is allowed."),
            500: problem("A fault of the server."),
          },
        },
      },
    },
    components: {
      schemas: {
        Problem: {
          type: "object",
          description: "RFC 9457 problem details.",
          required: ["type", "title", "status"],
          properties: {
            type: { type: "string" },
            title: { type: "string" },
            status: { type: "integer" },
            detail: { type: "string" },
            errors: {
              type: "array",
              items: {
                type: "object",
                required: ["parameter", "value", "expected", "example"],
                properties: {
                  parameter: { type: "string" },
                  value: { type: "string" },
                  expected: { type: "string" },
                  example: { type: "string" },
                },
              },
            },
          },
        },
        Properties: {
          type: "object",
          required: Object.keys(propertySchemas),
          properties: propertySchemas,
          additionalProperties: true,
        },
        Feature: {
          type: "object",
          required: ["type", "id", "geometry", "properties"],
          properties: {
            type: { type: "string", enum: ["Feature"] },
            id: { type: "integer" },
            geometry: {
              type: "object",
              required: ["type", "coordinates"],
              properties: {
                type: { type: "string", enum: ["Point"] },
                coordinates: {
                  type: "array",
                  description: "Longitude, latitude, and the altitude in metres where it is known.",
                  items: { type: "number" },
                  minItems: 2,
                  maxItems: 3,
                },
              },
            },
            properties: { $ref: "#/components/schemas/Properties" },
          },
        },
        FeatureCollection: {
          type: "object",
          required: ["type", "features"],
          properties: {
            type: { type: "string", enum: ["FeatureCollection"] },
            generator: { type: "string" },
            attribution: { type: "string" },
            license: { type: "string" },
            generation: { type: "string" },
            timeStamp: { type: "string", format: "date-time" },
            title: { type: "string" },
            bbox: {
              type: "array",
              description: "West, south, east, north; only in files.",
              items: { type: "number" },
              minItems: 4,
              maxItems: 4,
            },
            features: { type: "array", items: { $ref: "#/components/schemas/Feature" } },
          },
        },
        PlaceRecord: {
          allOf: [
            { $ref: "#/components/schemas/Properties" },
            {
              type: "object",
              required: ["longitude", "latitude"],
              properties: { longitude: { type: "number" }, latitude: { type: "number" } },
            },
          ],
        },
      },
    },
  };
}

const text = (description: string) => ({ type: "string", description }) as const;
/** OpenAPI 3.0.3 schema of each property of a record. */
export const propertySchemas = {
  name: text("Name of the place."),
  url: text("Page of the place; ends in `=` and the id."),
  descriptif: text("Description."),
  commentaire: text("Latest comment."),
  photo: text("File name of a photo; refugesansphoto.jpg for none."),
  region: text("Registered region, as the `region` parameter takes it; empty where unknown."),
  altitude: { type: "string", nullable: true, description: "Altitude as the source wrote it." },
  cap_ete: text("Sleeping places in summer, as the source wrote it."),
  cap_hiver: text("Sleeping places in winter, as the source wrote it."),
  type_hebergement: text("Category as a slug."),
  type_lieu: {
    type: "integer",
    minimum: 1,
    maximum: 7,
    nullable: true,
    description: "Category; null where the source names none.",
  },
  id: { type: "integer", minimum: 1, description: "Stable identifier." },
  commune: text("Commune."),
  altitude_m: { type: "number", nullable: true, description: "Altitude in metres, where it is unambiguous." },
  capacity_summer: {
    type: "integer",
    nullable: true,
    description: "Sleeping places in summer, where unambiguous.",
  },
  capacity_winter: {
    type: "integer",
    nullable: true,
    description: "Sleeping places in winter, where unambiguous.",
  },
} as const satisfies Readonly<Record<PropertyName, unknown>>;

function describeParameter({
  names,
  description,
  schema,
  example,
}: Pick<Parameter<unknown>, "names" | "description" | "schema" | "example">) {
  const typed = schema["type"] === "integer" ? Number(example) : example;
  return names.map((name) => ({ name, in: "query", required: false, description, schema, example: typed }));
}

function answerSchema(format: (typeof formatNames)[number]) {
  if (format === "geojson") return { $ref: "#/components/schemas/FeatureCollection" };
  if (format === "json") return { type: "array", items: { $ref: "#/components/schemas/PlaceRecord" } };
  return { type: "string" };
}

function problem(description: string) {
  return {
    description,
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}
