import { parse as parseCsv } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unguardCell } from "../src/formats/csv.js";
import { type FormatName, formatNames, formats } from "../src/formats/index.js";
import { propertyNames } from "../src/formats/properties.js";
import type { Place } from "../src/place.js";
import { categoryNumbers } from "../src/taxonomy.js";
import { documentOf } from "./setup/documents.js";
import {
  anyRecord,
  hostilePlaces,
  makeAbout,
  makePlace,
  placeOf,
  withSameExtraKeys,
} from "./setup/places.js";
import { hasSchemas, textsOf, unescapeXml, xmlFaults } from "./setup/xml.js";

/** A place as a foreign reader sees it. */
interface Read {
  readonly name: string;
  readonly lon: number;
  readonly lat: number;
  readonly altitude: number | null;
}

/** Reads a document back with a reader that is not ours. */
const readers: Readonly<Record<FormatName, (text: string) => Read[]>> = {
  geojson: (text) => {
    const collection = JSON.parse(text);
    expect(collection.type).toBe("FeatureCollection");
    return collection.features.map((feature: ReturnType<typeof JSON.parse>) => {
      expect(feature).toMatchObject({ type: "Feature", geometry: { type: "Point" } });
      expect(feature.properties.id).toBe(feature.id);
      const [lon, lat, altitude = null] = feature.geometry.coordinates;
      expect(feature.properties.altitude_m).toBe(altitude);
      return { name: feature.properties.name, lon, lat, altitude };
    });
  },
  json: (text) =>
    JSON.parse(text).map((record: ReturnType<typeof JSON.parse>) => ({
      name: record.name,
      lon: record.longitude,
      lat: record.latitude,
      altitude: record.altitude_m,
    })),
  csv: (text) => {
    const rows: Record<string, string>[] = parseCsv(text, { columns: true, record_delimiter: "\r\n" });
    return rows.map((row) => ({
      name: unguardCell(row["name"] ?? ""),
      lon: Number(row["longitude"]),
      lat: Number(row["latitude"]),
      altitude: row["altitude_m"] === "" ? null : Number(row["altitude_m"]),
    }));
  },
  gpx: (text) =>
    [...text.matchAll(/<wpt lat="([^"]*)" lon="([^"]*)">(.*?)<\/wpt>/gs)].map(([, lat, lon, body = ""]) => {
      const [ele] = textsOf(body, "ele");
      return {
        name: textsOf(body, "name")[0] ?? "",
        lon: Number(lat === undefined ? Number.NaN : lon),
        lat: Number(lat),
        altitude: ele === undefined ? null : Number(ele),
      };
    }),
  kml: (text) =>
    [...text.matchAll(/<Placemark id="place-\d+">(.*?)<\/Placemark>/gs)].map(([, body = ""]) => {
      const [coordinates = ""] = textsOf(body, "coordinates");
      // The schema takes almost anything here (FORMATS.md): lon,lat[,alt], no spaces, dot decimals, no exponent.
      expect(coordinates).toMatch(/^-?\d+(\.\d+)?,-?\d+(\.\d+)?(,\d+(\.\d+)?)?$/);
      const [lon = Number.NaN, lat = Number.NaN, altitude = null] = coordinates.split(",").map(Number);
      return { name: textsOf(body, "name")[0] ?? "", lon, lat, altitude };
    }),
};

/** What a reader should see; GPX leaves longitude 180 out, which is -180 (its schema, longitudeType). */
const seenIn =
  (format: FormatName) =>
  ({ name, lon, lat, altitude }: Place): Read => ({
    name,
    lon: format === "gpx" && lon === 180 ? -180 : lon,
    lat,
    altitude,
  });

const many = Array.from({ length: 200 }, (_, index) =>
  makePlace({
    id: index + 1,
    lon: -2 + index / 37,
    lat: 42 + (index % 10) / 9,
    category: ([...categoryNumbers, null] as const)[index % 8] ?? null,
    region: index % 3 === 0 ? null : "Aragon",
    altitude: index % 2 === 0 ? null : index,
  }),
);
const hostile = withSameExtraKeys(hostilePlaces());
const edges = withSameExtraKeys([
  makePlace({ id: 1, lon: 1e-7, lat: -1e-7 }),
  makePlace({ id: 2, lon: 180, lat: 90, altitude: 0.001 }),
  makePlace({ id: 3, lon: -180, lat: -90, altitude: 8849 }),
  makePlace({ id: 2 ** 31 - 1, lon: 0, lat: 0.0000001, altitude: null, altitudeText: null, url: "" }),
  makePlace({ id: 4, url: "javascript:alert(1)", extra: [["n", -1.5]] }),
  makePlace({
    id: 5,
    url: "https://example.org/a b?x=%zz&y=|[]{}^`\\<>\"'#é#=5",
    extra: [["n", { a: [null] }]],
  }),
  makePlace({ id: 6, url: "http://[::1]:80/é=6", extra: [["n", false]] }),
]);

const documents: readonly (readonly [string, { places: readonly Place[]; extraKeys: readonly string[] }])[] =
  [
    ["no place", { places: [], extraKeys: [] }],
    ["no place, but passed-through keys", { places: [], extraKeys: ["=water", 'a"b,c'] }],
    ["one place", { places: [makePlace()], extraKeys: [] }],
    ["200 places", { places: many, extraKeys: [] }],
    ["hostile texts everywhere", hostile],
    ["numbers and addresses at their edges", edges],
  ];
const abouts = [
  makeAbout(),
  makeAbout({
    region: "Aragon & <co> \"']]>",
    category: 5,
    bbox: { west: -1e-7, south: -90, east: 180, north: 90 },
    license: 'no address: <none> & "none" ]]>',
    title: "=title ]]> <b>",
  }),
];

describe.each(formatNames)("%s", (name) => {
  const format = formats[name];

  test.each(documents)("of %s is read back by a foreign reader", (_name, { places, extraKeys }) => {
    for (const about of abouts) {
      const text = documentOf(name, places, { ...about, extraKeys });
      expect(readers[name](text)).toEqual(places.map(seenIn(name)));
    }
  });

  test("gives the same bytes each time", () => {
    const about = makeAbout({ extraKeys: hostile.extraKeys });
    expect(documentOf(name, hostile.places, about)).toBe(documentOf(name, hostilePlacesAgain(), about));
  });

  test("writes each place by itself: a part of a document is cut out by its bytes", () => {
    const about = makeAbout();
    const whole = Buffer.from(documentOf(name, many, about));
    const [first, second, third] = many as [Place, Place, Place];
    const start = Buffer.byteLength(format.prologue(about) + format.place(first) + format.separator);
    const end = start + Buffer.byteLength(format.place(second) + format.separator + format.place(third));
    const cut = format.prologue(about) + whole.subarray(start, end).toString() + format.epilogue(about);
    expect(cut).toBe(documentOf(name, [second, third], about));
  });

  test("is well-formed Unicode without carriage returns but those of CSV", () => {
    const text = documentOf(name, hostile.places, makeAbout({ extraKeys: hostile.extraKeys }));
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toContain("\ufeff{");
    expect(name === "csv" ? text.replaceAll("\r\n", "") : text).not.toContain("\r");
    expect(text).not.toMatch(/[\ufffe\uffff]/);
  });

  test("reads back names and positions of any place", () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 4 }), (records) => {
        const places = records.map(placeOf);
        expect(readers[name](documentOf(name, places, makeAbout()))).toEqual(places.map(seenIn(name)));
      }),
      { numRuns: 150 },
    );
  });
});

function hostilePlacesAgain(): readonly Place[] {
  return withSameExtraKeys(hostilePlaces()).places;
}

describe("GeoJSON and JSON", () => {
  const record = { ...makePlace(), extra: [["water", null] as const, ["stove", [1, "x"]] as const] };

  test("give the ten keys that existing clients read, in their order and of their types, then ours", () => {
    const properties = JSON.parse(formats.geojson.place(record)).properties;
    expect(Object.keys(properties).join(" ")).toBe(
      "name url descriptif commentaire photo region altitude cap_ete cap_hiver type_hebergement " +
        "type_lieu id commune altitude_m capacity_summer capacity_winter water stove",
    );
    const bare = { ...record, altitudeText: null, altitude: null, region: null, summerCapacity: null };
    const first = Object.entries(JSON.parse(formats.geojson.place(bare)).properties).slice(0, 10);
    for (const [key, value] of first)
      if (key !== "altitude") expect(value, key).toBeTypeOf("string");
      else expect(value).toBeNull();
  });

  test("JSON is the same record, flat, with its position", () => {
    const flat = JSON.parse(formats.json.place(record));
    const { longitude, latitude, ...rest } = flat;
    expect([longitude, latitude]).toEqual([record.lon, record.lat]);
    expect(rest).toEqual(JSON.parse(formats.geojson.place(record)).properties);
  });

  test("no key of an existing client's wish list is added", () => {
    const ours: readonly string[] = [...propertyNames, "longitude", "latitude"];
    for (const key of ["nom", "description", "places", "capacite", "eau", "bois", "categorie", "type", "alt"])
      expect(ours).not.toContain(key);
  });

  test("one place is one line", () => {
    for (const name of ["geojson", "json"] as const)
      expect(documentOf(name, hostile.places, makeAbout()).trimEnd().split("\n")).toHaveLength(
        hostile.places.length + 2,
      );
  });

  test("the collection says whose data it holds, and its box only where there is one", () => {
    const empty = JSON.parse(documentOf("geojson", [], makeAbout()));
    expect(Object.keys(empty)).toEqual([
      "type",
      "generator",
      "attribution",
      "license",
      "generation",
      "timeStamp",
      "title",
      "features",
    ]);
    const bbox = { west: -1e-7, south: 2, east: 3.5, north: 4 };
    expect(JSON.parse(documentOf("geojson", [], makeAbout({ bbox }))).bbox).toEqual([-1e-7, 2, 3.5, 4]);
  });
});

describe("CSV", () => {
  const rowsOf = (places: readonly Place[], extraKeys: readonly string[] = []): string[][] =>
    parseCsv(documentOf("csv", places, makeAbout({ extraKeys })), { record_delimiter: "\r\n" });

  test("has one row of names, and as many cells in each row", () => {
    const rows = rowsOf(hostile.places, hostile.extraKeys);
    expect(rows).toHaveLength(hostile.places.length + 1);
    expect(rows[0]?.slice(0, 18)).toEqual([...propertyNames, "longitude", "latitude"]);
    for (const row of rows) expect(row).toHaveLength(18 + hostile.extraKeys.length);
  });

  test("no cell of text is run by a spreadsheet, and taking the guard off gives the text", () => {
    const texts = [
      "=1",
      "+1",
      "-1",
      "@x",
      "\tx",
      "\rx",
      "＝1",
      "＋1",
      "－1",
      "＠x",
      "'=1",
      "''-",
      "'",
      "a=1",
      "'a",
    ];
    for (const text of texts) {
      const cell = rowsOf([makePlace({ name: text })])[1]?.[0] ?? "";
      expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
      expect(unguardCell(cell)).toBe(text);
    }
    expect(rowsOf([], ["=key"])[0]?.at(-1)).toBe("'=key");
  });

  test("numbers are never guarded, and what is unknown is an empty cell, not 0", () => {
    const [, row] = rowsOf([
      makePlace({ lon: -1.5, altitude: null, altitudeText: null, winterCapacity: null }),
    ]);
    expect(row?.at(-2)).toBe("-1.5");
    expect([row?.[6], row?.[13], row?.[15]]).toEqual(["", "", ""]);
  });
});

describe("numbers", () => {
  test.each(formatNames)("have no exponent and no minus zero in %s", (name) => {
    const plain = { name: "x", description: "", comment: "", altitudeText: "", url: "" };
    const places = edges.places.slice(0, 4).map((place) => ({ ...place, ...plain }));
    const text = documentOf(
      name,
      places,
      makeAbout({ bbox: { west: 1e-7, south: -1e-7, east: 1, north: 1 } }),
    );
    expect(text).not.toMatch(/[\d.]e[-+]?\d+[",<\]\s]/i);
    expect(text).not.toMatch(/[",[>]-0(\.0*)?[",\]<]/);
    expect(text).toContain("0.0000001");
  });
});

describe("GPX and KML", () => {
  const allDocuments = (name: "gpx" | "kml"): string[] =>
    documents.flatMap(([, { places, extraKeys }]) =>
      abouts.map((about) => documentOf(name, places, { ...about, extraKeys })),
    );

  test.each(["gpx", "kml"] as const)("%s is well-formed XML", async (name) => {
    expect(await xmlFaults(allDocuments(name))).toEqual([]);
  });

  test("the reader of these tests does find faults", async () => {
    expect(await xmlFaults(["<a>&nbsp;</a>", "<a>\u0001</a>", "<a><b></a>"])).not.toEqual([]);
  });

  describe.skipIf(!hasSchemas())(
    "against the published schemas (skipped only where ../shared/schemas is missing)",
    () => {
      test.each(["gpx", "kml"] as const)("%s is valid", async (name) => {
        expect(await xmlFaults(allDocuments(name), name)).toEqual([]);
      });

      test.each([
        ["gpx", '<wpt lat="42.75"', '<wpt lat="142.75"'],
        ["gpx", "<sym>", "<symbol/><sym>"],
        ["gpx", "<osmand:color>#", "<osmand:color>"],
        ["kml", "<Point>", "<Pint/><Point>"],
        ["kml", "<styleUrl>", "<name>twice</name><styleUrl>"],
      ] as const)("%s with %s replaced by %s is not", async (name, from, to) => {
        const text = documentOf(name, [makePlace()], makeAbout());
        expect(text).toContain(from);
        expect(await xmlFaults([text.replace(from, to)], name)).not.toEqual([]);
      });
    },
  );

  test("text is in neither of them raw, and reads back as it was", () => {
    const text = `<b>&amp; "q" 'a' ]]>`;
    const place = makePlace({ name: text, comment: text, description: "" });
    expect(textsOf(formats.gpx.place(place), "desc")).toEqual([text]);
    // Google Earth reads the description as HTML: user text is escaped once more.
    const [description = ""] = textsOf(formats.kml.place(place), "description");
    expect(description).not.toContain("<b>");
    expect(unescapeXml(description)).toContain(text);
  });

  test("only http and https addresses become links", () => {
    for (const name of ["gpx", "kml"] as const) {
      expect(formats[name].place(makePlace({ url: "javascript:alert(1)" }))).not.toContain("href");
      expect(formats[name].place(makePlace({ url: "/?id=1" }))).not.toContain("href");
      expect(formats[name].place(makePlace({ url: "https://example.org/?a=1&b=2" }))).toContain(
        'href="https://example.org/?a=1&amp;b=2"',
      );
    }
  });

  test("every style that a KML place names is there, in every document that can hold the place", () => {
    for (const category of [...categoryNumbers, null]) {
      const place = formats.kml.place(makePlace({ category }));
      const [style = ""] = textsOf(place, "styleUrl");
      for (const about of [makeAbout(), makeAbout({ category })])
        expect(formats.kml.prologue(about)).toContain(`<Style id="${style.slice(1)}">`);
      const [type = ""] = textsOf(formats.gpx.place(makePlace({ category })), "type");
      expect(unescapeXml(formats.gpx.epilogue(makeAbout({ category })))).toContain(`<group name="${type}"`);
    }
  });

  test("KML colours are aabbggrr", () => {
    expect(formats.kml.prologue(makeAbout({ category: 6 }))).toContain("<color>ff1c1cb7</color>");
  });

  test("every property that is known stands in the KML, passed-through ones, too", () => {
    const place = formats.kml.place(makePlace({ extra: [['water & "more"', { litres: 3 }]] }));
    expect(place).toContain('<Data name="altitude_m"><value>2135</value></Data>');
    expect(place).toContain(
      '<Data name="water &amp; &quot;more&quot;"><value>{&quot;litres&quot;:3}</value></Data>',
    );
  });
});
