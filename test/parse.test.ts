import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPlaceParser, NO_PHOTO } from "../src/parse.js";
import type { Refusal, Repair } from "../src/repairs.js";
import { categories, categoryNumbers } from "../src/taxonomy.js";
import { anyText, hostileTexts, keptOf, megabyte, placeOf } from "./setup/places.js";

/** The smallest record that is kept without a repair. */
const plain = {
  id: 7,
  name: "Orri",
  longitude: 1.5,
  latitude: 42.5,
  region: "Andorre",
  type_lieu: 4,
};

/** A feature as the known service sends it (UPSTREAM.md). */
function feature(properties: Readonly<Record<string, unknown>> = {}, id = 12): Record<string, unknown> {
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [0.123, 42.75] },
    properties: {
      name: "Cabane d'Arrens ",
      url: `http://www.pyrenees-refuges.com/fr/affiche.php?numenr=${id}`,
      descriptif: "petite cabane",
      commentaire: "",
      photo: "1234.jpg",
      region: "Arrens-Marsous",
      altitude: "2135",
      cap_ete: "12",
      cap_hiver: "",
      type_hebergement: "cabane ouverte",
      ...properties,
    },
  };
}

function refusalOf(record: unknown): Refusal {
  const parsed = createPlaceParser()(record);
  if ("place" in parsed) throw new Error(`kept: ${JSON.stringify(parsed.place)}`);
  return parsed.refused;
}

describe("a refused record", () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  const rows: readonly (readonly [Refusal, unknown])[] = [
    ...[null, undefined, 1, "text", true, [], [plain]].map((record) => ["not a record", record] as const),
    ["no id", { ...plain, id: undefined }],
    ["no id", { ...plain, id: 0 }],
    ["no id", { ...plain, id: -1 }],
    ["no id", { ...plain, id: 1.5 }],
    ["no id", { ...plain, id: "1e3" }],
    ["no id", { ...plain, id: "seven" }],
    ["no id", { ...plain, id: 2 ** 31 }],
    ["no id", { ...plain, id: "99999999999" }],
    ["no id", { ...plain, id: {} }],
    ["no id", feature({ url: "http://www.pyrenees-refuges.com/fr/affiche.php" })],
    ["no id", feature({ url: "http://www.pyrenees-refuges.com/fr/affiche.php?numenr=12&x=a" })],
    ["bad coordinates", { ...plain, longitude: undefined }],
    ["bad coordinates", { ...plain, latitude: null }],
    ["bad coordinates", { ...plain, longitude: "" }],
    ["bad coordinates", { ...plain, longitude: "1,5" }],
    ["bad coordinates", { ...plain, longitude: "1.5E" }],
    ["bad coordinates", { ...plain, longitude: "1e0" }],
    ["bad coordinates", { ...plain, latitude: "42°30'" }],
    ["bad coordinates", { ...plain, latitude: "0x2a" }],
    ["bad coordinates", { ...plain, longitude: Number.NaN }],
    ["bad coordinates", { ...plain, longitude: Number.POSITIVE_INFINITY }],
    ["bad coordinates", { ...plain, longitude: true }],
    ["bad coordinates", { ...plain, longitude: [1.5] }],
    ["bad coordinates", { ...plain, longitude: 180.0000001 }],
    ["bad coordinates", { ...plain, latitude: -90.0000001 }],
    ["bad coordinates", { ...plain, longitude: 0, latitude: 0 }],
    ["bad coordinates", { ...plain, longitude: "0.0", latitude: "-0" }],
    ["bad coordinates", { ...feature(), geometry: null }],
    ["bad coordinates", { ...feature(), geometry: { type: "Point", coordinates: [] } }],
    ["bad coordinates", { ...feature(), geometry: { type: "Point", coordinates: "0.5,42" } }],
    ["bad coordinates", { ...feature(), geometry: { type: "LineString", coordinates: [0.5, 42.5] } }],
    ["bad coordinates", { ...feature(), geometry: { type: "MultiPoint", coordinates: [[0.5, 42.5]] } }],
    ["coordinates look swapped", { ...plain, longitude: 42.5, latitude: 1.5 }],
    ["coordinates look swapped", { ...feature(), geometry: { type: "Point", coordinates: [42.75, -0.1] } }],
    ["text too long", { ...plain, name: "x".repeat(301) }],
    ["text too long", { ...plain, region: "x".repeat(301) }],
    ["text too long", { ...plain, descriptif: megabyte }],
    ["text too long", { ...plain, commentaire: megabyte }],
    ["text too long", { ...plain, remark: megabyte }],
    ["text too long", { ...plain, remark: { inner: [megabyte] } }],
    ["too deep", { ...plain, remark: deep(9) }],
    ["too deep", { ...plain, remark: deep(5000) }],
  ];
  test.each(rows)("says why: %s, case %#", (reason, record) => {
    expect(refusalOf(record)).toBe(reason);
  });

  test("is described in one short line that names it", () => {
    const parsed = createPlaceParser()({ ...plain, name: `Orri\n\u202e${megabyte}`, longitude: "?" });
    if (!("refused" in parsed)) throw new Error("kept");
    expect(parsed.record).toMatch(/^\{"id":7,"name":"Orri/);
    expect(parsed.record).not.toMatch(/[\n\u202e]/);
    expect(parsed.record.length).toBeLessThanOrEqual(160);
  });
});

describe("a position", () => {
  test.each([
    [1.5, 42.5],
    [" 1.5 ", "+42.5"],
    ["1.50000", "42.500"],
  ])("%j, %j is read as it stands", (longitude, latitude) => {
    expect(placeOf({ ...plain, longitude, latitude })).toMatchObject({ lon: 1.5, lat: 42.5 });
  });

  test("far from the Pyrenees is kept as it stands", () => {
    expect(placeOf({ ...plain, longitude: -70, latitude: -33 })).toMatchObject({ lon: -70, lat: -33 });
    expect(placeOf({ ...plain, longitude: 180, latitude: -90 })).toMatchObject({ lon: 180, lat: -90 });
    expect(placeOf({ ...plain, longitude: 0, latitude: 42.5 })).toMatchObject({ lon: 0, lat: 42.5 });
  });

  test("is never guessed: what is kept is what was sent, to 7 decimals, and everything else is refused", () => {
    const anyDegrees = fc.oneof(
      fc.double(),
      fc.double({ min: -200, max: 200 }),
      fc.double({ min: -3, max: 44 }),
      fc.double({ min: -200, max: 200, noNaN: true }).map(String),
      anyText,
      fc.constant(null),
    );
    fc.assert(
      fc.property(anyDegrees, anyDegrees, (longitude, latitude) => {
        const parsed = createPlaceParser()({ ...plain, longitude, latitude });
        if ("refused" in parsed) {
          expect(["bad coordinates", "coordinates look swapped"]).toContain(parsed.refused);
          return;
        }
        expect(Math.abs(parsed.place.lon - Number(longitude))).toBeLessThan(1e-7);
        expect(Math.abs(parsed.place.lat - Number(latitude))).toBeLessThan(1e-7);
        expect(Object.is(parsed.place.lon, -0) || Object.is(parsed.place.lat, -0)).toBe(false);
        expect(Math.abs(parsed.place.lat)).toBeLessThanOrEqual(90);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a repair", () => {
  test("is not counted where nothing was wrong", () => {
    expect(keptOf(plain).repairs).toEqual([]);
    expect(keptOf({ ...plain, name: "  Orri\tde  l'Été " }).repairs).toEqual([]);
    expect(keptOf({ ...plain, commentaire: "one\r\ntwo " }).repairs).toEqual([]);
  });

  test.each<[Repair, Record<string, unknown>, Record<string, unknown>]>([
    ["name missing", { name: undefined }, { name: "Sans nom 7" }],
    ["name missing", { name: " " }, { name: "Sans nom 7" }],
    ["name missing", { name: "????" }, { name: "Sans nom 7" }],
    ["category unknown", { type_lieu: undefined }, { category: null, categorySlug: "" }],
    ["category unknown", { type_lieu: 8 }, { category: null, categorySlug: "" }],
    [
      "category unknown",
      { type_lieu: null, type_hebergement: "yourte", commune: "" },
      { category: null, categorySlug: "yourte" },
    ],
    [
      "category contradicted",
      { type_hebergement: "ruine", commune: "" },
      { category: 4, categorySlug: categories[4].slug },
    ],
    ["region missing", { region: undefined }, { region: null }],
    ["region missing", { region: " " }, { region: null }],
    ["text cleaned", { name: "Or\u0000ri" }, { name: "Orri" }],
    ["text cleaned", { name: "Orri\u202e" }, { name: "Orri" }],
    ["text cleaned", { commentaire: "half \ud83d" }, { comment: "half \ufffd" }],
  ])("%s, case %#", (repair, change, kept) => {
    const { place, repairs } = keptOf({ ...plain, ...change });
    expect(repairs).toEqual([repair]);
    expect(place).toMatchObject(kept);
  });

  test("never loses a hut: without a name, a category and a region it is still there", () => {
    const { place, repairs } = keptOf({ id: 3, longitude: 1, latitude: 42 });
    expect(repairs).toEqual(["category unknown", "region missing", "name missing"]);
    expect(place).toEqual({
      id: 3,
      name: "Sans nom 3",
      lon: 1,
      lat: 42,
      category: null,
      categorySlug: "",
      region: null,
      commune: "",
      url: "/?id=3",
      description: "",
      comment: "",
      photo: NO_PHOTO,
      altitudeText: null,
      altitude: null,
      summerText: "",
      summerCapacity: null,
      winterText: "",
      winterCapacity: null,
      extra: [],
    });
  });
});

describe("the layout of the known service", () => {
  test("gives a place: the commune from `region`, the id from the address, no region of its own", () => {
    const { place, repairs } = keptOf(feature());
    expect(place).toMatchObject({
      id: 12,
      name: "Cabane d'Arrens",
      lon: 0.123,
      lat: 42.75,
      region: null,
      commune: "Arrens-Marsous",
      url: "http://www.pyrenees-refuges.com/fr/affiche.php?numenr=12",
      photo: "1234.jpg",
      altitudeText: "2135",
      altitude: 2135,
      summerText: "12",
      summerCapacity: 12,
      category: 2,
      extra: [],
    });
    expect(repairs).toEqual(["region missing"]);
  });

  test.each(categoryNumbers)("category %i is known by its slug alone", (category) => {
    const { place, repairs } = keptOf(feature({ type_hebergement: categories[category].slug }));
    expect(place).toMatchObject({ category, categorySlug: categories[category].slug });
    expect(repairs).not.toContain("category unknown");
  });

  test.each([
    ["", ""],
    ["Refuge Garde", "Refuge Garde"],
  ])("the slug %j is no category, and is not guessed", (type_hebergement, categorySlug) => {
    const { place, repairs } = keptOf(feature({ type_hebergement }));
    expect(place).toMatchObject({ category: null, categorySlug });
    expect(repairs).toContain("category unknown");
  });

  test.each([
    ["&quot;belle&quot; &amp; propre", '"belle" & propre'],
    ["l&#180;&eacute;t&eacute;", "l´été"],
    ["l\\'eau", "l'eau"],
    ["&amp;quot;", "&quot;"],
    ["&amp;amp;lt;", "&amp;lt;"],
    ["Tom & Jerry; a&b", "Tom & Jerry; a&b"],
    ["&#0;&#1;&#xFFFF;x", "\ufffdx"],
    ["one\r\ntwo", "one\ntwo"],
  ])("the comment %j is decoded once: %j", (commentaire, comment) => {
    expect(placeOf(feature({ commentaire })).comment).toBe(comment);
  });

  test("entities are counted, and are left alone in other layouts", () => {
    expect(keptOf(feature({ name: "Refuge &amp; abri" })).repairs).toContain("entities decoded");
    const { place, repairs } = keptOf({ ...plain, name: "A &amp; B", commentaire: "l\\'eau" });
    expect(place).toMatchObject({ name: "A &amp; B", comment: "l\\'eau" });
    expect(repairs).toEqual([]);
  });

  test("a comment that repeats the one of the place before it is dropped, however often", () => {
    const parse = createPlaceParser();
    const comments = ["A", "A", "A", "B", "", "B", "  ", "  ", "A"];
    const parsed = comments.map((commentaire, index) => parse(feature({ commentaire }, index + 1)));
    expect(parsed.map((result) => "place" in result && result.place.comment)).toEqual([
      "A",
      "",
      "",
      "B",
      "",
      "B",
      "  ",
      "  ",
      "A",
    ]);
    expect(parsed.map((result) => "place" in result && result.repairs.includes("comment repeated"))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  test("a comment is known as repeated when the place before it was refused", () => {
    const parse = createPlaceParser();
    parse({ ...feature({ commentaire: "A" }), geometry: null });
    expect(parse(feature({ commentaire: "A" }, 2))).toMatchObject({ place: { comment: "" } });
  });

  test("in our own layout two places may have the same comment", () => {
    const parse = createPlaceParser();
    parse({ ...plain, id: 1, commentaire: "A", type_hebergement: "", commune: "" });
    const second = parse({ ...plain, id: 2, commentaire: "A", type_hebergement: "", commune: "" });
    expect(second).toMatchObject({ place: { comment: "A" }, repairs: [] });
  });

  test.each([
    ["2135", 2135],
    ["1640m", 1640],
    ["2 135", 2135],
    ["1.925 ", 1925],
    ["+/- 1150", 1150],
    ["1760m ?", 1760],
    ["1 870 ", 1870],
    [" ", null],
  ])("the altitude %j is kept as text and read as %s", (altitude, metres) => {
    expect(placeOf(feature({ altitude }))).toMatchObject({ altitudeText: altitude, altitude: metres });
  });

  test.each([[""], [null]])("the altitude %j is unknown", (altitude) => {
    expect(placeOf(feature({ altitude }))).toMatchObject({ altitudeText: null, altitude: null });
  });

  test.each([
    ["", null],
    [" ", null],
    ["12", 12],
    ["4 a 5", 5],
    ["2 3", 3],
    ["15 env ", 15],
    ["0 ou 4", null],
    ["idem", null],
    ["0", null],
  ])("the capacity %j is kept as text and read as %s", (text, count) => {
    const place = placeOf(feature({ cap_ete: text, cap_hiver: text }));
    expect(place).toMatchObject({ summerText: text, winterText: text });
    expect(place).toMatchObject({ summerCapacity: count, winterCapacity: count });
  });

  test("idem in winter is as many as in summer", () => {
    expect(placeOf(feature({ cap_ete: "4 a 5", cap_hiver: "idem" })).winterCapacity).toBe(5);
  });
});

describe("the layout of the bundled data", () => {
  test("gives a place from a row of text", () => {
    const row = {
      id: "2",
      name: "Refuge de Siscaro",
      category: "2",
      longitude: "1.70601",
      latitude: "42.59485",
      altitude_m: "2145",
      capacity: "15",
      region: "Andorre",
    };
    expect(keptOf(row)).toEqual({
      repairs: [],
      place: {
        id: 2,
        name: "Refuge de Siscaro",
        lon: 1.70601,
        lat: 42.59485,
        category: 2,
        categorySlug: "cabane ouverte",
        region: "Andorre",
        commune: "",
        url: "/?id=2",
        description: "",
        comment: "",
        photo: NO_PHOTO,
        altitudeText: "2145",
        altitude: 2145,
        summerText: "15",
        summerCapacity: 15,
        winterText: "",
        winterCapacity: null,
        extra: [],
      },
    });
    expect(placeOf({ ...row, altitude_m: "", capacity: "" })).toMatchObject({
      altitudeText: null,
      altitude: null,
      summerText: "",
      summerCapacity: null,
    });
  });
});

describe("what the source sent besides", () => {
  test("is kept unchanged, in its order, whatever its type", () => {
    const remark = { a: [1, -0, true, null, "x\r\ny"], "b\u0000": "\ud83d" };
    const { extra } = placeOf({ ...plain, water: "oui", stove: false, beds: 4, remark, nothing: null });
    expect(extra).toEqual([
      ["water", "oui"],
      ["stove", false],
      ["beds", 4],
      ["remark", { a: [1, 0, true, null, "x\ny"], b: "\ufffd" }],
      ["nothing", null],
    ]);
  });

  test("may be called `type` and say Feature: only a geometry makes a GeoJSON Feature", () => {
    expect(placeOf({ ...plain, type: "Feature" }).extra).toEqual([["type", "Feature"]]);
  });

  test("has clean keys; of two that become the same one the last stays", () => {
    expect(placeOf({ ...plain, " a\u0000 b ": 1, "a b": 2, "\u0000": 3, "na\u0000me": 4 }).extra).toEqual([
      ["a b", 2],
    ]);
  });

  test("cannot be a trap for the program that reads it", () => {
    const record: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}');
    const { extra } = placeOf({ ...plain, ...(record as object) });
    expect(extra).toContainEqual(["constructor", 2]);
    expect("polluted" in {}).toBe(false);
  });
});

test("every hostile text is kept in every field, and only repaired", () => {
  for (const text of Object.values(hostileTexts)) {
    const { place } = keptOf({
      ...plain,
      name: text,
      commentaire: text,
      commune: text,
      url: text,
      remark: text,
    });
    expect(place.name).not.toBe("");
    expect([place.name, place.comment, place.url].join("").isWellFormed()).toBe(true);
  }
});
