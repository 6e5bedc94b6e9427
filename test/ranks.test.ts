import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UserError } from "../src/errors.js";
import { formatNames } from "../src/formats/index.js";
import { type BBox, hilbertKey, type Place } from "../src/place.js";
import type { Filter } from "../src/query.js";
import { createRanks } from "../src/release/rankfile.js";
import { openRanks, type Ranks } from "../src/release/ranks.js";
import { categoryNumbers } from "../src/taxonomy.js";
import { temporaryFolder } from "./setup/folders.js";
import { anyLat, anyLon, makePlace } from "./setup/places.js";

const regions = ["Andorre", "Aragon", "Occitanie"];
let files = 0;

/** The places in canonical order, as a release's database on disk, opened as the server does. */
function ranksOf(folder: string, places: readonly Place[], scanned?: number): Ranks {
  const path = join(folder, `${files++}.sqlite`);
  const writer = createRanks(path, places.length, regions);
  for (const place of places) writer.add(place);
  for (const [index, format] of formatNames.entries()) {
    writer.setOffsets(
      format,
      Float64Array.from({ length: places.length + 1 }, (_, rank) => rank * 10 + index),
    );
    for (const region of [null, "Aragon"])
      for (const category of [null, 5] as const)
        writer.setEnvelope(format, region, category, {
          prologue: `${format} ${region} ${category} é`,
          epilogue: "end",
        });
  }
  writer.finish();
  return openRanks(readFileSync(path), path, scanned);
}

/** What `select` must give, place by place. */
function plainFilter(places: readonly Place[], { bbox, category, region }: Filter): number[] {
  return places.flatMap((place, rank) => {
    const isIn =
      bbox === null ||
      (place.lon >= bbox.west &&
        place.lon <= bbox.east &&
        place.lat >= bbox.south &&
        place.lat <= bbox.north);
    const isWanted =
      (category === null || place.category === category) && (region === null || place.region === region);
    return isIn && isWanted ? [rank] : [];
  });
}

function ranksIn({ ranges }: ReturnType<Ranks["select"]>): number[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
}

const anyPlaces = (maxLength: number): fc.Arbitrary<Place[]> =>
  fc
    .array(
      fc.record({
        lon: fc.oneof(
          anyLon,
          fc.integer({ min: -30, max: 30 }).map((step) => step / 10),
        ),
        lat: fc.oneof(
          anyLat,
          fc.integer({ min: 410, max: 440 }).map((step) => step / 10),
        ),
        category: fc.constantFrom(...categoryNumbers, null),
        region: fc.constantFrom(...regions, null),
      }),
      { maxLength, size: "max" },
    )
    .map((list) =>
      list
        .map((fields, index) => makePlace({ id: index + 1, ...fields }))
        .sort((a, b) => hilbertKey(a.lon, a.lat) - hilbertKey(b.lon, b.lat) || a.id - b.id),
    );

/** Boxes at exact coordinates of the places, a hair beside them, points, and any others. */
function anyBox(places: readonly Place[]): fc.Arbitrary<BBox> {
  const nudge = fc.constantFrom(0, 0, 0, 1e-7, -1e-7, 1e-9, -1e-9);
  const edge = (of: (place: Place) => number, any: fc.Arbitrary<number>, limit: number) =>
    fc
      .tuple(places.length === 0 ? any : fc.oneof(fc.constantFrom(...places.map(of)), any), nudge)
      .map(([value, by]) => Math.max(-limit, Math.min(limit, value + by)));
  const lon = edge((place) => place.lon, anyLon, 180);
  const lat = edge((place) => place.lat, anyLat, 90);
  const box = fc.tuple(lon, lon, lat, lat).map(([a, b, c, d]) => ({
    west: Math.min(a, b),
    east: Math.max(a, b),
    south: Math.min(c, d),
    north: Math.max(c, d),
  }));
  const point = fc.tuple(lon, lat).map(([x, y]) => ({ west: x, east: x, south: y, north: y }));
  const itself = fc
    .constantFrom(...places, makePlace())
    .map((place) => ({ west: place.lon, east: place.lon, south: place.lat, north: place.lat }));
  return fc.oneof(box, point, itself);
}

function anyFilter(places: readonly Place[]): fc.Arbitrary<Filter> {
  return fc.record({
    bbox: fc.option(anyBox(places), { freq: 4 }),
    category: fc.option(fc.constantFrom(...categoryNumbers)),
    region: fc.option(fc.constantFrom(...regions, "Navarre", "aragon", "")),
  });
}

const all: Filter = { bbox: null, category: null, region: null };

describe.each([
  ["compared one by one", Number.POSITIVE_INFINITY],
  ["named by the R*Tree", 0],
])("selected ranks, of blocks %s,", (_name, scanned) => {
  test("are those of a plain filter, for any places, box, category, region, offset and limit", () => {
    const folder = temporaryFolder();
    const anyCase = anyPlaces(400).chain((places) =>
      fc.tuple(
        fc.constant(places),
        fc.array(fc.tuple(anyFilter(places), fc.nat(450), fc.integer({ min: 1, max: 450 })), {
          minLength: 20,
          maxLength: 40,
        }),
      ),
    );
    fc.assert(
      fc.property(anyCase, ([places, questions]) => {
        const ranks = ranksOf(folder, places, scanned);
        for (const [filter, offset, limit] of questions) {
          const expected = plainFilter(places, filter);
          const selection = ranks.select(filter, offset, limit);
          expect(selection.matched).toBe(expected.length);
          expect(ranksIn(selection)).toEqual(expected.slice(offset, offset + limit));
          expect(selection.returned).toBe(ranksIn(selection).length);
        }
        ranks.close();
      }),
      { numRuns: 60 },
    );
  });

  test("come as few runs, in rising order, from many blocks, too", () => {
    const places = Array.from({ length: 8000 }, (_, index) =>
      makePlace({ id: index + 1, lon: (index % 100) / 10, lat: 40 + Math.floor(index / 100) / 20 }),
    );
    places.sort((a, b) => hilbertKey(a.lon, a.lat) - hilbertKey(b.lon, b.lat));
    const ranks = ranksOf(temporaryFolder(), places, scanned);
    const filter = { ...all, bbox: { west: 0.5, east: 9.2, south: 40.1, north: 43.7 } };
    const selection = ranks.select(filter, 3, 5000);
    const { ranges } = selection;
    expect(ranksIn(selection)).toEqual(plainFilter(places, filter).slice(3, 5003));
    ranges.forEach(({ from, to }, index) => {
      expect(from).toBeLessThan(to);
      expect(from).toBeGreaterThan(ranges[index - 1]?.to ?? -1);
    });
    expect(ranks.select(all, 0, 8000).ranges).toEqual([{ from: 0, to: 8000 }]);
    ranks.close();
  });

  test("joined over all pages are the whole, whatever the page size", () => {
    const folder = temporaryFolder();
    fc.assert(
      fc.property(
        anyPlaces(300).chain((places) => fc.tuple(fc.constant(places), anyFilter(places))),
        fc.integer({ min: 1, max: 97 }),
        ([places, filter], size) => {
          const ranks = ranksOf(folder, places, scanned);
          const pages: number[] = [];
          for (let offset = 0; offset <= places.length; offset += size)
            pages.push(...ranksIn(ranks.select(filter, offset, size)));
          expect(pages).toEqual(ranksIn(ranks.select(filter, 0, 20_000)));
          ranks.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  test("take in places exactly on the edges and corners of a box, on the far ends of the globe, too", () => {
    const corners = [-180, 180].flatMap((lon) => [-90, 90].map((lat) => ({ lon, lat })));
    const places = corners.map((corner, index) => makePlace({ id: index + 1, ...corner }));
    const ranks = ranksOf(temporaryFolder(), places, scanned);
    const world = { west: -180, east: 180, south: -90, north: 90 };
    expect(ranks.select({ ...all, bbox: world }, 0, 10).returned).toBe(4);
    const inner = { west: -179.9999999, east: 179.9999999, south: -90, north: 90 };
    expect(ranks.select({ ...all, bbox: inner }, 0, 10).returned).toBe(0);
    ranks.close();
  });

  test("are none of none", () => {
    const ranks = ranksOf(temporaryFolder(), [], scanned);
    expect(ranks.count).toBe(0);
    const none = { matched: 0, returned: 0, ranges: [] };
    expect(ranks.select(all, 0, 10)).toEqual(none);
    expect(ranks.select({ ...all, bbox: { west: -1, east: 1, south: 42, north: 43 } }, 0, 10)).toEqual(none);
    ranks.close();
  });
});

describe("the database of a release", () => {
  test("keeps offsets and envelopes; an unknown region has the envelope of the whole", () => {
    const ranks = ranksOf(temporaryFolder(), [makePlace()]);
    for (const [index, format] of formatNames.entries()) {
      expect([...ranks.offsets(format)]).toEqual([index, 10 + index]);
      expect(ranks.envelope(format, "Aragon", 5).prologue.toString()).toBe(`${format} Aragon 5 é`);
      expect(ranks.envelope(format, null, null).prologue.toString()).toBe(`${format} null null é`);
      expect(ranks.envelope(format, "Navarre", null).prologue.toString()).toBe(`${format} null null é`);
      expect(ranks.envelope(format, null, 5).epilogue.toString()).toBe("end");
    }
    ranks.close();
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["something else", Buffer.from("<html>".repeat(1000))],
  ])("is refused as damaged when it is %s", (_name, bytes) => {
    expect(() => openRanks(bytes, "index.sqlite")).toThrow(UserError);
    expect(() => openRanks(bytes, "index.sqlite")).toThrow(/index\.sqlite/);
  });
});
