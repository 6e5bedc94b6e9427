import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Format } from "../src/formats/format.js";
import { type FileFormatName, fileFormatNames, fileFormats } from "../src/formats/index.js";
import type { Place } from "../src/place.js";
import { documentOf } from "./setup/documents.js";
import { hostilePlaces, makeAbout, makePlace, withSameExtraKeys } from "./setup/places.js";

// Expected documents, compared byte for byte. `npm run bless` rewrites them: its diff is what users will see change.
const FOLDER = "test/golden";
// What is packed differs from zlib to zlib: its content is held where it is unpacked.
const isPacked = (name: FileFormatName): boolean => {
  const { pack }: Format = fileFormats[name];
  return pack !== undefined;
};
const formatNames = fileFormatNames.filter((name) => !isPacked(name));
const isBlessing = process.env["BLESS"] === "1";

const few: readonly Place[] = [
  makePlace({ id: 1, name: "Cabane d'Arrens", lon: -0.2125, lat: 42.9012345 }),
  makePlace({
    id: 2,
    name: "Refugi de la Serra & del Coll",
    lon: 1.44939,
    lat: 42.57902,
    category: 6,
    categorySlug: "refuge garde toute l annee",
    region: "Andorre",
    altitudeText: null,
    altitude: null,
    summerText: "60",
    summerCapacity: 60,
    winterText: "idem",
    winterCapacity: 60,
    comment: "Prévoir\ndes <duvets>.",
  }),
  makePlace({
    id: 3,
    name: "Sans nom 3",
    category: null,
    region: null,
    url: "/?id=3",
    description: "",
    comment: "",
    commune: "",
    altitudeText: "?",
    altitude: null,
    summerText: "",
    summerCapacity: null,
  }),
];

const box = { west: -0.2125, south: 42.57902, east: 1.44939, north: 42.9012345 };
const hostile = withSameExtraKeys(hostilePlaces());
const selections: Readonly<Record<string, readonly [readonly Place[], ReturnType<typeof makeAbout>]>> = {
  empty: [[], makeAbout()],
  few: [few, makeAbout({ bbox: box })],
  "andorre-6": [few.slice(1, 2), makeAbout({ region: "Andorre", category: 6, license: "Ask first <us>." })],
  hostile: [hostile.places, makeAbout({ extraKeys: hostile.extraKeys })],
};

describe("golden files", () => {
  for (const [selection, [places, about]] of Object.entries(selections)) {
    test.each(formatNames)(`${selection}.%s is what it was`, (format) => {
      const path = join(FOLDER, `${selection}.${format}`);
      const bytes = Buffer.from(documentOf(format, places, about));
      if (isBlessing) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(path, bytes);
      }
      expect(existsSync(path), `${path} is missing: run \`npm run bless\``).toBe(true);
      // As text first: a readable difference; then as bytes.
      expect(bytes.toString()).toBe(readFileSync(path, "utf8"));
      expect(bytes.equals(readFileSync(path))).toBe(true);
    });
  }

  test("there is none that nothing compares", () => {
    const expected = Object.keys(selections).flatMap((name) =>
      formatNames.map((format) => `${name}.${format}`),
    );
    expect(readdirSync(FOLDER).sort()).toEqual(expected.sort());
  });
});
