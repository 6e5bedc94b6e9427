/** Made-up places for tests: whole ones with sensible defaults, hostile texts, and random records for fast-check. */

import { readFileSync } from "node:fs";
import { parse as parseCsv } from "csv-parse/sync";
import fc from "fast-check";
import type { About } from "../../src/formats/format.js";
import { createPlaceParser, NO_PHOTO } from "../../src/parse.js";
import { type Place, unitsToDegrees } from "../../src/place.js";
import { bundledPlaces } from "../../src/program.js";
import type { Repair } from "../../src/repairs.js";
import { categories, categoryNumbers } from "../../src/taxonomy.js";

/** A whole place; every field can be overridden. */
export function makePlace(overrides: Partial<Place> = {}): Place {
  const id = overrides.id ?? 1;
  const category = overrides.category === undefined ? 2 : overrides.category;
  return {
    id,
    name: `Cabane ${id}`,
    lon: 0.5,
    lat: 42.75,
    category,
    categorySlug: category === null ? "" : categories[category].slug,
    region: "Occitanie",
    commune: "Aulon",
    url: `http://www.example.org/fr/affiche.php?numenr=${id}`,
    description: "petite cabane",
    comment: "Toit refait.",
    photo: NO_PHOTO,
    altitudeText: "2 135",
    altitude: 2135,
    summerText: "4 a 5",
    summerCapacity: 5,
    winterText: "",
    winterCapacity: null,
    extra: [],
    ...overrides,
  };
}

/** What a document says of itself, independent of the program's version. */
export function makeAbout(overrides: Partial<About> = {}): About {
  return {
    generator: "mountain-shelters test",
    generation: "0123456789abcdef",
    title: "Test shelters",
    attribution: 'Nobody & sons, "made up"',
    license: "https://example.org/terms?a=1&b=2",
    date: "2026-01-02T03:04:05Z",
    extraKeys: [],
    region: null,
    category: null,
    bbox: null,
    ...overrides,
  };
}

/** Texts that break careless readers and writers, as a source may send them. */
export const hostileTexts: Readonly<Record<string, string>> = {
  accents: "Cabaña d'Aïgües Tortes, l'Été à Öô",
  decomposed: "Cabane de l'E\u0301te\u0301",
  quotes: `"double" 'single' “curly” \`back\``,
  markup: "<b>&amp;</b> &lt;script&gt; <![CDATA[ x ]]> <!-- -- -->",
  formula: "=cmd|' /C calc'!A0",
  formulaTwins: "＝1+1",
  guarded: "'=already",
  apostrophes: "''-2",
  plus: "+33 5 61 00 00 00",
  at: "@here",
  tab: "\tindented",
  comma: "one, two; three|four",
  lineBreaks: "one\r\ntwo\rthree\nfour",
  edges: "  spaces around \n",
  emoji: "⛰️ 👩‍👩‍👧 🏚",
  nul: "before\u0000after",
  controls: "a\u0001b\u0008c\u001bd",
  c1: "a\u0085b\u0092c\u009f",
  loneHigh: "half \ud83d pair",
  loneLow: "half \ude00 pair",
  noncharacters: "a\ufffeb\uffffc",
  byteOrderMark: "\ufeffmarked",
  bidi: "abc\u202edef\u2066ghi\u200f",
  lineSeparators: "a\u2028b\u2029c",
  backslash: "C:\\new\\table \\' \\u0041",
  entity: "&eacute; &#233; &unknown;",
  dollars: "$& $1 $$ {x}",
  question: "????",
};

/** A megabyte of text: longer than any description is let be. */
export const megabyte = "é".repeat(2 ** 19);

/** Text of any kind, hostile ones often. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...Object.values(hostileTexts), "", " ", "0"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc
    .array(fc.constantFrom(...Object.values(hostileTexts)), { minLength: 2, maxLength: 3 })
    .map((texts) => texts.join("")),
);

/** Whole units of 1e-7 degree; small numbers, edges and shared values are frequent. */
export const anyLon = coordinate(180);
export const anyLat = coordinate(90);

function coordinate(limit: number): fc.Arbitrary<number> {
  const units = limit * 1e7;
  return fc
    .oneof(
      fc.integer({ min: -units, max: units }),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -4, max: 4 }).map((step) => step * 1e7),
      fc.constantFrom(-units, units),
    )
    .map(unitsToDegrees);
}

/** A flat raw record that `parsePlace` keeps: in our own layout, every text hostile. */
export const anyRecord: fc.Arbitrary<Record<string, unknown>> = fc
  .record({
    id: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    name: anyText,
    longitude: anyLon,
    latitude: anyLat,
    url: anyText,
    descriptif: anyText,
    commentaire: anyText,
    photo: anyText,
    region: anyText,
    altitude: fc.oneof(anyText, fc.constantFrom("2135", "1640m", null)),
    cap_ete: anyText,
    cap_hiver: fc.oneof(anyText, fc.constant("idem")),
    type_hebergement: anyText,
    type_lieu: fc.constantFrom(...categoryNumbers, null),
    commune: anyText,
    altitude_m: fc.oneof(fc.constant(null), fc.double({ min: 0, max: 9000, noNaN: true })),
    capacity_summer: fc.constantFrom(null, 0, 3, 2000, 2001),
    capacity_winter: fc.constantFrom(null, 1, "7"),
  })
  .filter(({ longitude, latitude }) => {
    const parsed = createPlaceParser()({ id: 1, longitude, latitude });
    return "place" in parsed;
  });

/** The place of a raw record; fails the test where it is refused. */
export function placeOf(record: unknown): Place {
  return keptOf(record).place;
}

export function keptOf(record: unknown): { readonly place: Place; readonly repairs: readonly Repair[] } {
  const parsed = createPlaceParser()(record);
  if ("refused" in parsed) throw new Error(`refused, ${parsed.refused}: ${parsed.record}`);
  return parsed;
}

/** One place for each hostile text, which stands in every text field, as the parser lets it in. */
export function hostilePlaces(): Place[] {
  return Object.entries(hostileTexts).map(([key, text], index) =>
    placeOf({
      id: index + 1,
      name: text,
      longitude: -1 + index / 100,
      latitude: 42.5,
      url: `http://www.example.org/${text}?numenr=${index + 1}`,
      descriptif: text,
      commentaire: text,
      photo: text,
      region: text,
      altitude: text,
      cap_ete: text,
      cap_hiver: text,
      type_hebergement: text,
      type_lieu: (index % 8) + 1,
      commune: text,
      altitude_m: index % 2 === 0 ? 1000 + index : null,
      remark: text,
      [`key ${key} ${text}`]: text,
    }),
  );
}

/** The same keys in the same order for every place, as the store gives them. */
export function withSameExtraKeys(places: readonly Place[]): { places: Place[]; extraKeys: string[] } {
  const extraKeys = [...new Set(places.flatMap(({ extra }) => extra.map(([key]) => key)))].sort();
  return {
    extraKeys,
    places: places.map((place) => {
      const values = new Map(place.extra);
      return { ...place, extra: extraKeys.map((key) => [key, values.get(key) ?? null] as const) };
    }),
  };
}

/** The bundled sample. */
export function samplePlaces(): Place[] {
  const rows: unknown[] = parseCsv(readFileSync(bundledPlaces), { columns: true });
  return rows.map((row) => placeOf(row));
}
