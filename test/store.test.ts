import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UserError } from "../src/errors.js";
import { hilbertKey, type Place, type Provenance } from "../src/place.js";
import { openStore, type Store } from "../src/store/store.js";
import { temporaryFolder } from "./setup/folders.js";
import { anyLat, anyLon, hostilePlaces, makePlace, withSameExtraKeys } from "./setup/places.js";

const provenance: Provenance = {
  title: "Test",
  attribution: "Nobody",
  license: "None",
  date: "2026-01-02T00:00:00Z",
};

function newStore(): { path: string; store: Store } {
  const path = join(temporaryFolder(), "deeper", "places.sqlite");
  return { path, store: openStore(path, { create: true }) };
}

function fill(store: Store, places: readonly Place[]): void {
  const replacement = store.replace();
  for (const place of places) expect(replacement.add(place)).toBe(true);
  replacement.commit(provenance);
}

function errorOf(run: () => unknown): UserError {
  try {
    run();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const five = [1, 2, 3, 4, 5].map((id) => makePlace({ id, lon: id, lat: 42 }));

describe("the store", () => {
  test("gives back what was put in, hostile texts included, after it was closed", () => {
    const { path, store } = newStore();
    const { places, extraKeys } = withSameExtraKeys(hostilePlaces());
    fill(store, places);
    store.close();
    const again = openStore(path);
    expect([...again.places()].sort((a, b) => a.id - b.id)).toEqual(places);
    expect(again.extraKeys()).toEqual(extraKeys);
    expect(again.provenance()).toEqual(provenance);
    expect(again.count()).toBe(places.length);
    again.close();
  });

  test("keeps canonical order: along the curve, ties by id", () => {
    const { store } = newStore();
    const tied = [9, 3, 7].map((id) => makePlace({ id, lon: 2, lat: 42 }));
    fill(store, [...tied, makePlace({ id: 1, lon: 3, lat: 43 }), makePlace({ id: 2, lon: -3, lat: 43 })]);
    const order = [...store.places()].map(({ lon, lat, id }) => [hilbertKey(lon, lat), id] as const);
    expect(order).toEqual([...order].sort(([a, x], [b, y]) => a - b || x - y));
    expect(order.map(([, id]) => id).filter((id) => id > 2)).toEqual([3, 7, 9]);
    store.close();
  });

  test("gives the same order and content hash, in whatever order the places came", () => {
    const anyPlaces = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 2 ** 31 - 1 }), anyLon, anyLat), {
        selector: ([id]) => id,
        minLength: 1,
        maxLength: 40,
      })
      .map((list) => list.map(([id, lon, lat]) => makePlace({ id, lon, lat, extra: [[`k${id % 3}`, id]] })));
    const { store } = newStore();
    fc.assert(
      fc.property(
        anyPlaces.chain((places) => fc.tuple(fc.constant(places), shuffled(places))),
        ([places, others]) => {
          fill(store, places);
          const first = { hash: store.contentHash(), places: [...store.places()] };
          fill(store, others);
          expect({ hash: store.contentHash(), places: [...store.places()] }).toEqual(first);
        },
      ),
      { numRuns: 30 },
    );
    store.close();
  });

  test("has another content hash when any field of one place changes", () => {
    const { store } = newStore();
    fill(store, five);
    const seen = new Set([store.contentHash()]);
    const changes: Partial<Place>[] = [
      { name: "x" },
      { lon: 1.0000001 },
      { comment: "x" },
      { altitude: 1 },
      { region: null },
      { winterCapacity: 1 },
      { extra: [["k", 1]] },
      { extra: [["k", 2]] },
    ];
    for (const change of changes) {
      fill(store, [makePlace({ id: 1, lon: 1, lat: 42, ...change }), ...five.slice(1)]);
      expect(seen).not.toContain(store.contentHash());
      seen.add(store.contentHash());
    }
    store.close();
  });

  test("hashes what its files show: a key of null as a missing one, but a key that nobody has apart", () => {
    const { store } = newStore();
    const hashOf = (...extras: Place["extra"][]): string => {
      fill(
        store,
        extras.map((extra, index) => makePlace({ id: index + 1, extra })),
      );
      return store.contentHash();
    };
    const once = hashOf([["a", 1]], [["b", 2]]);
    expect(
      hashOf(
        [
          ["a", 1],
          ["b", null],
        ],
        [
          ["a", null],
          ["b", 2],
        ],
      ),
    ).toBe(once);
    expect(
      hashOf(
        [["a", 1]],
        [
          ["b", 2],
          ["c", null],
        ],
      ),
    ).not.toBe(once);
    store.close();
  });

  test("lists no key that only a dropped place had", () => {
    const { store } = newStore();
    const replacement = store.replace();
    replacement.add(makePlace({ id: 1 }));
    replacement.add(makePlace({ id: 1, extra: [["a", 1]] }));
    replacement.commit(provenance);
    expect(store.extraKeys()).toEqual([]);
    store.close();
  });

  test("lists the same passed-through keys for every place, null where a place has none", () => {
    const { store } = newStore();
    fill(store, [
      makePlace({ id: 1, extra: [["b", 1]] }),
      makePlace({ id: 2, extra: [["a", "x"]] }),
      makePlace({ id: 3 }),
    ]);
    expect([...store.places()].map(({ extra }) => extra)).toEqual([
      [
        ["a", null],
        ["b", 1],
      ],
      [
        ["a", "x"],
        ["b", null],
      ],
      [
        ["a", null],
        ["b", null],
      ],
    ]);
    store.close();
  });

  test("counts and boxes each region and category", () => {
    const { store } = newStore();
    fill(store, [
      makePlace({ id: 1, lon: 1, lat: 42, region: null, category: null }),
      makePlace({ id: 2, lon: -1, lat: 43, region: "Aragon", category: 5 }),
      makePlace({ id: 3, lon: -2, lat: 42, region: "Aragon", category: 5 }),
      makePlace({ id: 4, lon: 0, lat: 42.5, region: "Aragon", category: 7 }),
    ]);
    const point = (lon: number, lat: number) => ({ west: lon, south: lat, east: lon, north: lat });
    expect(store.groups()).toEqual([
      { region: null, category: null, count: 1, bbox: point(1, 42) },
      {
        region: "Aragon",
        category: 5,
        count: 2,
        bbox: { west: -2, south: 42, east: -1, north: 43 },
      },
      { region: "Aragon", category: 7, count: 1, bbox: point(0, 42.5) },
    ]);
    store.close();
  });

  test("keeps the first of two places of one id, and says so", () => {
    const { store } = newStore();
    const replacement = store.replace();
    expect(replacement.add(makePlace({ name: "first" }))).toBe(true);
    expect(replacement.add(makePlace({ name: "second" }))).toBe(false);
    replacement.commit(provenance);
    expect([...store.places()].map(({ name }) => name)).toEqual(["first"]);
    store.close();
  });
});

describe("a replacement", () => {
  test("is seen by nobody before it is committed, and then whole", () => {
    const { path, store } = newStore();
    fill(store, five);
    const reader = openStore(path);
    const replacement = store.replace();
    replacement.add(makePlace({ id: 99 }));
    expect(reader.count()).toBe(5);
    replacement.commit({ ...provenance, title: "New" });
    expect([...reader.places()].map(({ id }) => id)).toEqual([99]);
    expect(reader.provenance().title).toBe("New");
    reader.close();
    store.close();
  });

  test("that is abandoned leaves everything as it was, and the next one works", () => {
    const { store } = newStore();
    fill(store, five);
    const before = { hash: store.contentHash(), places: [...store.places()] };
    const replacement = store.replace();
    replacement.add(makePlace({ id: 99, extra: [["k", 1]] }));
    replacement.abandon();
    replacement.abandon();
    expect({ hash: store.contentHash(), places: [...store.places()] }).toEqual(before);
    fill(store, [makePlace({ id: 100 })]);
    expect([...store.places()].map(({ id }) => id)).toEqual([100]);
    store.close();
  });

  test("whose process goes away in the middle leaves everything as it was", () => {
    const { path, store } = newStore();
    fill(store, five);
    const replacement = store.replace();
    for (let id = 10; id < 500; id++) replacement.add(makePlace({ id }));
    store.close();
    const again = openStore(path);
    expect(again.count()).toBe(5);
    again.close();
  });

  test("by a second writer is refused at once as busy", () => {
    const { path, store } = newStore();
    fill(store, five);
    const other = openStore(path, { create: true });
    const replacement = store.replace();
    const error = errorOf(() => other.replace());
    expect(error.code).toBe("busy");
    expect(error.message).toContain(path);
    replacement.abandon();
    fill(other, [makePlace({ id: 6 })]);
    expect(store.count()).toBe(1);
    other.close();
    store.close();
  });
});

describe("a database that cannot be used", () => {
  test("is named when there is none", () => {
    const path = join(temporaryFolder(), "none.sqlite");
    const error = errorOf(() => openStore(path));
    expect(error.code).toBe("damaged");
    expect(error.message).toContain(path);
    expect(error.message).toContain("shelters pull");
  });

  test("is one of a newer program, with and without `create`", () => {
    const { path, store } = newStore();
    fill(store, five);
    store.close();
    const database = new Database(path);
    const version = Number(database.pragma("user_version", { simple: true }));
    database.pragma(`user_version = ${version + 1}`);
    database.close();
    for (const create of [true, false]) {
      const error = errorOf(() => openStore(path, { create }));
      expect(error.code).toBe("damaged");
      expect(error.message).toMatch(/schema version 3.*newer program/);
    }
  });

  test("is one of another program: it is left alone, byte for byte", () => {
    const path = join(temporaryFolder(), "foreign.sqlite");
    const database = new Database(path);
    database.exec("CREATE TABLE t (x)");
    database.close();
    const bytes = readFileSync(path);
    for (const create of [true, false])
      expect(errorOf(() => openStore(path, { create }))).toMatchObject({
        code: "damaged",
        message: expect.stringContaining("not a database of mountain-shelters"),
      });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("is a file of something else: it is left alone", () => {
    const path = join(temporaryFolder(), "places.sqlite");
    writeFileSync(path, "id,name\n1,Orri\n".repeat(1000));
    for (const create of [true, false])
      expect(errorOf(() => openStore(path, { create }))).toMatchObject({
        code: "damaged",
        message: expect.stringContaining("no SQLite database"),
      });
    expect(readFileSync(path, "utf8")).toMatch(/^id,name/);
  });

  test("is an empty file, which a pull may fill", () => {
    const path = join(temporaryFolder(), "places.sqlite");
    writeFileSync(path, "");
    expect(errorOf(() => openStore(path))).toMatchObject({
      code: "damaged",
      message: expect.stringContaining("empty file"),
    });
    const store = openStore(path, { create: true });
    fill(store, five);
    expect(store.count()).toBe(5);
    store.close();
  });

  test("is one that was cut off", () => {
    const { path, store } = newStore();
    fill(store, five);
    store.close();
    truncateSync(path, 100);
    expect(errorOf(() => openStore(path)).code).toBe("damaged");
  });

  test("is a folder", () => {
    const error = errorOf(() => openStore(temporaryFolder(), { create: true }));
    expect(error).toMatchObject({ code: "system", message: expect.stringContaining("folder") });
  });

  test("is one that no pull has filled yet", () => {
    const { store } = newStore();
    for (const read of [store.provenance, store.contentHash, store.extraKeys])
      expect(errorOf(() => read())).toMatchObject({
        code: "damaged",
        message: expect.stringContaining("holds no places yet"),
      });
    expect(store.count()).toBe(0);
    store.close();
  });
});

function shuffled<Item>(items: readonly Item[]): fc.Arbitrary<Item[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
}
