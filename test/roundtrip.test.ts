import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPlaceParser } from "../src/parse.js";
import type { Json, Place } from "../src/place.js";
import { file } from "../src/sources/file.js";
import { documentOf } from "./setup/documents.js";
import { temporaryFolder } from "./setup/folders.js";
import { anyRecord, anyText, hostilePlaces, makeAbout, placeOf, withSameExtraKeys } from "./setup/places.js";

/** The places of a document, read as `pull` reads a file. */
async function readBack(folder: string, name: string, text: string): Promise<Place[]> {
  const path = join(folder, name);
  writeFileSync(path, text);
  const parse = createPlaceParser();
  const places: Place[] = [];
  for await (const item of file.pull(path)) {
    if (!("record" in item)) continue;
    const parsed = parse(item.record);
    if ("refused" in parsed) throw new Error(`refused, ${parsed.refused}: ${parsed.record}`);
    places.push(parsed.place);
  }
  return places;
}

/** CSV has text only, and an empty cell for null. */
function asCells(places: readonly Place[]): Place[] {
  const cell = (value: Json): Json =>
    value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return places.map((place) => ({
    ...place,
    extra: place.extra.map(([key, value]) => [key, cell(value)] as const),
  }));
}

describe.each(["geojson", "json", "csv"] as const)("what is exported as %s", (format) => {
  const expected = (places: readonly Place[]) => (format === "csv" ? asCells(places) : places);

  test("is pulled again as the same places, hostile ones included", async () => {
    const { places, extraKeys } = withSameExtraKeys(hostilePlaces());
    const text = documentOf(format, places, makeAbout({ extraKeys }));
    expect(await readBack(temporaryFolder(), `out.${format}`, text)).toEqual(expected(places));
  });

  test("is pulled again as the same places, whatever they hold", async () => {
    const folder = temporaryFolder();
    const anyExtra = fc.oneof(anyText, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyRecord, anyExtra, anyText), { minLength: 1, maxLength: 5 }),
        async (records) => {
          const kept = records.map(([record, extra, key]) =>
            placeOf({ remark: extra, [`x ${key}`]: extra, ...record }),
          );
          const { places, extraKeys } = withSameExtraKeys(kept);
          const text = documentOf(format, places, makeAbout({ extraKeys }));
          expect(await readBack(folder, `out.${format}`, text)).toEqual(expected(places));
        },
      ),
      { numRuns: 150 },
    );
  });
});
