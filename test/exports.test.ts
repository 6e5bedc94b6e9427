import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startExports } from "../src/build/exportwork.js";
import { describe as describeFacts } from "../src/build/facts.js";
import { writePlaces } from "../src/build/placefiles.js";
import { planExports, planSelections } from "../src/build/plan.js";
import type { Format } from "../src/formats/format.js";
import { fileFormats, formats } from "../src/formats/index.js";
import type { Place } from "../src/place.js";
import { openStore, type Store } from "../src/store/store.js";
import { documentOf } from "./setup/documents.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { anyRecord, makeAbout, placeOf, samplePlaces } from "./setup/places.js";

const { title, attribution, license, date } = makeAbout();

const anyPlaces = fc
  .uniqueArray(anyRecord, { selector: (record) => record["id"], minLength: 1, maxLength: 12 })
  .map((records) =>
    records.map((record, index) => {
      // Few regions: each has more than a hundred files.
      const region = ["Aragon", "L'Été / Ò", ""][index % 3];
      return placeOf({ ...record, region, [`key ${index % 2}`]: index });
    }),
  );

/** A database of these places. */
function pulled(folder: string, places: readonly Place[]): { database: string; store: Store } {
  const database = join(folder, "places.sqlite");
  const store = openStore(database, { create: true });
  const replacement = store.replace();
  for (const place of places) replacement.add(place);
  replacement.commit({ title, attribution, license, date });
  return { database, store };
}

/** Every file that holds places, from places that come in this order. */
async function write(folder: string, places: readonly Place[]) {
  mkdirSync(join(folder, "site"));
  const { database, store } = pulled(folder, places);
  try {
    const facts = describeFacts(store);
    const { exports } = await writePlaces(store, database, join(folder, "site"), facts, () => {});
    const about = { ...facts, extraKeys: store.extraKeys() };
    return { exports, about, inOrder: [...store.places()], digests: digestsBelow(join(folder, "site")) };
  } finally {
    store.close();
  }
}

/** The document in a KMZ: the first entry of the zip file, whose size stands behind it. */
function unpack(format: Format, bytes: Buffer): string {
  if (format.pack === undefined) return bytes.toString("utf8");
  return inflateRawSync(bytes.subarray(30 + bytes.readUInt16LE(26))).toString("utf8");
}

test("each file holds the places of its region and category, encoded as by themselves, whatever they are", async () => {
  await fc.assert(
    fc.asyncProperty(anyPlaces, async (places) => {
      const folder = temporaryFolder();
      const { exports, about, inOrder } = await write(folder, places);
      expect(exports.length % Object.keys(fileFormats).length).toBe(0);
      for (const { path, format, region, category, bbox, count } of exports) {
        const chosen = inOrder.filter(
          (place) =>
            (region === null || place.region === region) &&
            (category === null || place.category === category),
        );
        expect(count, path).toBe(chosen.length);
        const text = unpack(fileFormats[format], readFileSync(join(folder, "site", path)));
        expect(text, path).toBe(documentOf(format, chosen, { ...about, region, category, bbox }));
      }
      rmSync(folder, { recursive: true });
    }),
    { numRuns: 5 },
  );
});

test("the order in which places come changes no byte of any file", async () => {
  const twice = anyPlaces.chain((places) =>
    fc.tuple(
      fc.constant(places),
      fc.shuffledSubarray([...places], { minLength: places.length, maxLength: places.length }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(twice, async ([places, others]) => {
      const [one, other] = [temporaryFolder(), temporaryFolder()];
      const first = await write(one, places);
      expect((await write(other, others)).digests).toEqual(first.digests);
      expect(Object.keys(first.digests)).toContain("places.gpkg");
      for (const folder of [one, other]) rmSync(folder, { recursive: true });
    }),
    { numRuns: 5 },
  );
});

test("the number of threads changes no byte of any file, and no position in it", async () => {
  const folder = temporaryFolder();
  const { database, store } = pulled(folder, samplePlaces());
  const contentHash = store.contentHash();
  const about = { ...describeFacts(store), extraKeys: store.extraKeys() };
  const plan = planExports(planSelections(store.groups()));
  store.close();
  const results = [];
  for (const threads of [1, 3, 30]) {
    const site = join(folder, `${threads}`);
    mkdirSync(site);
    const task = { database, contentHash, options: { folder: site, plan, about } };
    const exporting = startExports(task, () => {}, threads);
    results.push({ ...(await exporting.done), digests: digestsBelow(site) });
  }
  const [one, ...others] = results;
  expect(Object.keys(one?.digests ?? {})).toHaveLength(plan.length + Object.keys(formats).length);
  for (const other of others) expect(other).toEqual(one);
});
