import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatNames } from "../src/formats/index.js";
import { type Fault, formatQuery, parseQuery, type Query, queryLimits } from "../src/query.js";
import { categoryNumbers } from "../src/taxonomy.js";
import { anyText } from "./setup/places.js";

const DEFAULTS: Query = {
  format: "geojson",
  bbox: null,
  category: null,
  region: null,
  limit: 10_000,
  offset: 0,
};

function queryOf(search: string): Query {
  const parsed = parseQuery(search);
  if ("faults" in parsed) throw new Error(`${search}: ${JSON.stringify(parsed.faults)}`);
  return parsed.query;
}

function faultsOf(search: string): readonly Fault[] {
  const parsed = parseQuery(search);
  if ("query" in parsed) throw new Error(`${search} was accepted: ${JSON.stringify(parsed.query)}`);
  return parsed.faults;
}

function faultOf(search: string): Fault {
  const [fault, ...others] = faultsOf(search);
  expect(others).toEqual([]);
  return fault as Fault;
}

describe("accepted requests", () => {
  test("no parameter at all asks for everything as GeoJSON", () => {
    expect(queryOf("")).toEqual(DEFAULTS);
  });

  const box = (west: number, south: number, east: number, north: number) => ({
    bbox: { west, south, east, north },
  });
  const rows: readonly (readonly [search: string, Partial<Query>])[] = [
    ...formatNames.map((format) => [`format=${format}`, { format }] as const),
    ["format=GeoJSON", { format: "geojson" }],
    ["format=KmL", { format: "kml" }],
    ["type_fichier=GEOJSON", { format: "geojson" }],
    ["type_fichier=CSV", { format: "csv" }],
    ["type_fichier=csv&format=gpx", { format: "gpx" }],
    ["format=gpx&type_fichier=csv", { format: "gpx" }],
    ["format=gpx&type_fichier=nonsense", { format: "gpx" }],
    ["bbox=-0.5,42.6,0.5,43", box(-0.5, 42.6, 0.5, 43)],
    ["bbox=-180,-90,180,90", box(-180, -90, 180, 90)],
    ["bbox=1.25,42.5,1.25,42.5", box(1.25, 42.5, 1.25, 42.5)],
    ["bbox=0%2C42%2C1%2C43", box(0, 42, 1, 43)],
    ["bbox=-0,0.0,000,0", box(0, 0, 0, 0)],
    ["bbox=0.0000001,0,1,1", box(1e-7, 0, 1, 1)],
    ["type_lieu=all", { category: null }],
    ...categoryNumbers.map((category) => [`type_lieu=${category}`, { category }] as const),
    ["region=Aragon", { region: "Aragon" }],
    ["region=Catalunya+Nord%20e", { region: "Catalunya Nord e" }],
    ["region=Ni%CC%81m", { region: "Ním" }],
    ["region=all", { region: "all" }],
    ["limit=1", { limit: 1 }],
    ["limit=20000", { limit: 20_000 }],
    ["limit=007", { limit: 7 }],
    ["offset=0", { offset: 0 }],
    ["offset=1000000", { offset: 1_000_000 }],
    ["_=1700000000&cb=&cb=&utm_source=x", {}],
    ["Format=nonsense&LIMIT=x&BBOX=&type_Lieu=9", {}],
    ["&&=&", {}],
  ];
  test.each(rows)("%s", (search, expected) => {
    expect(queryOf(search)).toEqual({ ...DEFAULTS, ...expected });
  });
});

describe("refused requests", () => {
  const names = ["format", "type_fichier", "bbox", "type_lieu", "region", "limit", "offset"];

  test.each(names)("%s= is not taken for an absent one", (name) => {
    expect(faultOf(`${name}=`)).toMatchObject({ parameter: name, value: "" });
    expect(faultOf(`${name}=`).expected).toMatch(/^not empty: /);
    expect(faultOf(name).expected).toMatch(/^not empty: /);
  });

  test.each([
    ["format", "csv"],
    ["type_fichier", "csv"],
    ["bbox", "0,0,1,1"],
    ["type_lieu", "1"],
    ["region", "Aragon"],
    ["limit", "5"],
    ["offset", "5"],
  ])("%s sent twice is refused, even with the same value", (name, value) => {
    const fault = faultOf(`${name}=${value}&${name}=${value}`);
    expect(fault).toMatchObject({ parameter: name, value: `${value} and ${value}` });
    expect(fault.expected).toMatch(/^once: /);
  });

  test.each([
    "format=xml",
    "format=geojson ",
    "format=constructor",
    "format=__proto__",
    "type_fichier=shp",
    "type_lieu=0",
    "type_lieu=8",
    "type_lieu=ALL",
    "type_lieu=01",
    "type_lieu=1.0",
    "type_lieu=1,2",
    "limit=0",
    "limit=20001",
    "limit=-1",
    "limit=%2B1",
    "limit=1.0",
    "limit=1e3",
    "limit=0x10",
    "limit=%201",
    "limit=99999999999999999999",
    "offset=-1",
    "offset=1000001",
    "offset=ten",
    "offset=%D9%A1",
    "bbox=1,2,3",
    "bbox=1,2,3,4,5",
    "bbox=a,b,c,d",
    "bbox=1e0,0,2,1",
    "bbox=%2B1,0,2,1",
    "bbox=1, 0,2,1",
    "bbox=.5,0,2,1",
    "bbox=1.,0,2,1",
    "bbox=NaN,0,2,1",
    "bbox=Infinity,0,2,1",
    "bbox=1,0,2,",
    "bbox=1;0;2;1",
    "bbox=180.1,0,180.2,1",
    "bbox=-181,0,1,1",
    "bbox=0,-90.1,1,1",
    "bbox=0,0,1,91",
    "bbox=0,2,1,1",
    "bbox=2,0,1,1",
  ])("%s", (search) => {
    const fault = faultOf(search);
    expect(fault.parameter).toBe(search.slice(0, search.indexOf("=")));
    expect(fault.expected).not.toBe("");
  });

  test("every example in a fault is itself accepted", () => {
    for (const name of names) expect(queryOf(faultOf(`${name}=`).example)).toBeDefined();
  });

  test("all faults of a request are reported together, in the order of the table", () => {
    const faults = faultsOf("offset=x&limit=0&region=&type_lieu=9&bbox=1&type_fichier=&format=a&format=b");
    expect(faults.map(({ parameter }) => parameter)).toEqual([
      "format",
      "type_fichier",
      "bbox",
      "type_lieu",
      "region",
      "limit",
      "offset",
    ]);
  });

  test("a box with several faults names each of them", () => {
    const { expected } = faultOf("bbox=200,80,-200,-95");
    for (const part of ["longitudes", "latitudes", "south <= north", "west <= east"])
      expect(expected.slice(expected.indexOf("Here:"))).toContain(part);
  });

  test.each([
    ["latitude first, out of range", "bbox=42.6,-100,43,100", true],
    ["latitude first, in the order lat, lon, lat, lon", "bbox=42,120,43,121", true],
    ["both longitudes first", "bbox=-0.5,0.5,42.6,43", false],
    ["west and east exchanged, and nothing else", "bbox=1,43,0.5,44", false],
    ["south and north exchanged, and nothing else", "bbox=0.5,44,1,43", false],
    ["a box of the Pyrenees from its east", "bbox=3.2,42.3,-1.8,43.4", false],
    ["a box across the antimeridian", "bbox=170,-10,-170,10", false],
    ["nonsense in any order", "bbox=300,300,300,300", false],
  ])("swapped coordinates are named as such: %s", (_name, search, isSwapped) => {
    const parsed = parseQuery(search);
    const text = "faults" in parsed ? parsed.faults.map(({ expected }) => expected).join() : "";
    expect(text.includes("look swapped")).toBe(isSwapped);
  });

  test("a long value is not repeated whole", () => {
    expect(faultOf(`format=${"x".repeat(10_000)}`).value).toHaveLength(queryLimits.shownValue);
  });
});

describe("any request", () => {
  const anySearch = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .array(
        fc.tuple(
          fc.constantFrom("format", "type_fichier", "bbox", "type_lieu", "region", "limit", "offset", "x"),
          fc.oneof(anyText, fc.constantFrom("1", "csv", "0,0,1,1", "-1e3", "%", "%ff", "%00")),
        ),
        { maxLength: 8 },
      )
      .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&")),
  );

  test("is answered by a query within the limits or by faults, never by a throw", () => {
    fc.assert(
      fc.property(anySearch, (search) => {
        const parsed = parseQuery(search);
        if ("faults" in parsed) {
          expect(parsed.faults.length).toBeGreaterThan(0);
          return;
        }
        const { format, bbox, limit, offset } = parsed.query;
        expect(formatNames).toContain(format);
        expect(limit).toSatisfy((value: number) => Number.isInteger(value) && value >= 1 && value <= 20_000);
        expect(offset).toSatisfy((value: number) => Number.isInteger(value) && value >= 0 && value <= 1e6);
        if (bbox !== null) {
          expect(bbox.west).toBeLessThanOrEqual(bbox.east);
          expect(bbox.south).toBeLessThanOrEqual(bbox.north);
        }
      }),
      { numRuns: 1000 },
    );
  });

  const degrees = (limit: number) =>
    fc.tuple(coordinate(limit), coordinate(limit)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const coordinate = (limit: number) =>
    fc
      .oneof(
        fc.double({ min: -limit, max: limit, noNaN: true }),
        fc.double({ min: -1e-6, max: 1e-6, noNaN: true }),
        fc.integer({ min: -limit, max: limit }),
      )
      .map((value) => value + 0);
  const anyQuery: fc.Arbitrary<Query> = fc.record({
    format: fc.constantFrom(...formatNames),
    bbox: fc.option(
      fc
        .tuple(degrees(180), degrees(90))
        .map(([[west, east], [south, north]]) => ({ west, south, east, north })),
    ),
    category: fc.option(fc.constantFrom(...categoryNumbers)),
    region: fc.option(
      anyText.filter((text) => text !== "").map((text) => text.toWellFormed().normalize("NFC")),
    ),
    limit: fc.integer({ min: 1, max: 20_000 }),
    offset: fc.integer({ min: 0, max: 1_000_000 }),
  });

  test("comes back the same from its canonical text", () => {
    fc.assert(
      fc.property(anyQuery, (query) => {
        expect(queryOf(formatQuery(query))).toEqual(query);
      }),
      { numRuns: 1000 },
    );
  });
});
