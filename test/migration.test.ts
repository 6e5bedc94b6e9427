import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { pull } from "../src/pull/pull.js";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { writeSource } from "./setup/release.js";
import { stored } from "./setup/stored.js";

// Version 1 as it was written: no history, a hash of the content that is made otherwise today, and keys whose value is null.
const VERSION_1 = `
  CREATE TABLE place (
    rank INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, name TEXT NOT NULL, lon REAL NOT NULL, lat REAL NOT NULL,
    category INTEGER, category_slug TEXT NOT NULL, region TEXT, commune TEXT NOT NULL, url TEXT NOT NULL,
    description TEXT NOT NULL, comment TEXT NOT NULL, photo TEXT NOT NULL, altitude_text TEXT, altitude REAL,
    summer_text TEXT NOT NULL, summer_capacity INTEGER, winter_text TEXT NOT NULL, winter_capacity INTEGER,
    extra TEXT NOT NULL
  );
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO place VALUES
    (0, 7, 'Orri', 1.5, 42.5, 4, 'orri toue abri en pierre', 'Andorre', '', '/?id=7', '', '', 'refugesansphoto.jpg', NULL, NULL, '', NULL, '', NULL, '[]'),
    (1, 2147483647, 'Cabane d''Ò', -0.5, 42.75, NULL, '', NULL, 'Laruns', '/?id=2147483647', 'a', 'b', 'p.jpg', '2 135', 2135, '4 a 5', 5, 'idem', 5, '[["eau",null]]'),
    (2, 9, 'Refuge', 0.25, 42.8, 6, 'refuge garde toute l annee', 'Aragon', '', '/?id=9', '', '', 'refugesansphoto.jpg', '2000', 2000, '', NULL, '', NULL, '[["bois",null],["eau","oui"]]');
  INSERT INTO meta VALUES
    ('provenance', '{"title":"Huts","attribution":"Club","license":"Ask","date":"2025-06-07T08:09:10Z"}'),
    ('extraKeys', '["bois","eau"]'),
    ('contentHash', '${"0".repeat(64)}');
  PRAGMA application_id = ${0x7368656c};
  PRAGMA user_version = 1;
`;

function oldDatabase(): string {
  const path = join(temporaryFolder(), "places.sqlite");
  const database = new Database(path);
  database.exec(VERSION_1);
  database.close();
  return path;
}

const versionOf = (path: string): unknown => {
  const database = new Database(path, { readonly: true });
  try {
    return database.pragma("user_version", { simple: true });
  } finally {
    database.close();
  }
};

test("a database of the first version keeps every place, value by value, and its history begins with them", () => {
  const path = oldDatabase();
  const before = stored(path, (store) => {
    expect([...store.places()].map(({ id, name, lon, lat }) => [id, name, lon, lat])).toEqual([
      [7, "Orri", 1.5, 42.5],
      [2147483647, "Cabane d'Ò", -0.5, 42.75],
      [9, "Refuge", 0.25, 42.8],
    ]);
    expect(
      [...store.places()].map(({ altitude, winterCapacity, extra }) => [altitude, winterCapacity, extra]),
    ).toEqual([
      [
        null,
        null,
        [
          ["bois", null],
          ["eau", null],
        ],
      ],
      [
        2135,
        5,
        [
          ["bois", null],
          ["eau", null],
        ],
      ],
      [
        2000,
        null,
        [
          ["bois", null],
          ["eau", "oui"],
        ],
      ],
    ]);
    expect(store.provenance().date).toBe("2025-06-07T08:09:10Z");
    expect(store.steps()).toEqual([
      { number: 1, content: "0".repeat(64), provenance: store.provenance(), places: 3, size: 0 },
    ]);
    expect([...store.history()].map(({ id, firstSeen, removed }) => [id, firstSeen, removed])).toEqual([
      [7, "2025-06-07T08:09:10Z", null],
      [9, "2025-06-07T08:09:10Z", null],
      [2147483647, "2025-06-07T08:09:10Z", null],
    ]);
    return [...store.places()];
  });
  expect(versionOf(path)).toBe(2);
  // Once and for all: opened again it is as it was.
  expect(stored(path, (store) => [...store.places()])).toEqual(before);
});

test("a pull into a database of the first version tells what changed, and loses no place", async () => {
  const database = oldDatabase();
  const features = [
    {
      id: 7,
      name: "Orri",
      longitude: 1.5,
      latitude: 42.5,
      type_lieu: 4,
      region: "Andorre",
      altitude_m: 1999,
    },
    {
      id: 9,
      name: "Refuge",
      longitude: 0.25,
      latitude: 42.8,
      type_lieu: 6,
      region: "Aragon",
      altitude_m: 2000,
      eau: "oui",
    },
    { id: 11, name: "Abri", longitude: 0.3, latitude: 42.8, type_lieu: 2, region: "Aragon" },
  ];
  const from = writeSource(temporaryFolder(), features);
  const { difference } = await pull({ from, database, force: true, about: {}, onProgress: () => {} });
  expect(difference).toEqual({
    added: 1,
    changed: 1,
    removed: 1,
    list: [
      { id: 7, name: "Orri", what: "changed: altitude, altitude_m" },
      { id: 11, name: "Abri", what: "added" },
      { id: 2147483647, name: "Cabane d'Ò", what: "removed" },
    ],
  });
  stored(database, (store) => {
    expect([...store.places()].map(({ id }) => id).sort((a, b) => a - b)).toEqual([7, 9, 11]);
    expect(store.steps().map(({ number, places, size }) => [number, places, size])).toEqual([
      [1, 3, 0],
      [2, 3, 3],
    ]);
    expect(store.changes(2).map(({ id, place }) => [id, place === null])).toEqual([
      [7, false],
      [11, false],
      [2147483647, true],
    ]);
  });
});

test("a database of the first version that no pull had filled is filled", async () => {
  const database = oldDatabase();
  const raw = new Database(database);
  raw.exec("DELETE FROM place; DELETE FROM meta;");
  raw.close();
  const from = writeSource(temporaryFolder(), [{ id: 1, name: "A", longitude: 1, latitude: 42.5 }]);
  const report = await pull({ from, database, force: false, about: {}, onProgress: () => {} });
  expect(report).toMatchObject({ places: 1, before: 0, difference: { added: 1, removed: 0 } });
});

test("a database of a newer version is refused by every command that opens it, and left alone", async () => {
  const database = oldDatabase();
  const raw = new Database(database);
  raw.pragma("user_version = 3");
  raw.close();
  const from = writeSource(temporaryFolder(), [{ id: 1, name: "A", longitude: 1, latitude: 42.5 }]);
  const site = join(temporaryFolder(), "site");
  for (const command of [["pull", "--from", from, "--force"], ["build", "--site", site], ["audit"]]) {
    const { code, stderr } = await runCli([...command, "--database", database]);
    expect([command[0], code]).toEqual([command[0], 5]);
    expect(stderr).toMatch(/has schema version 3; this program reads up to 2\. Use a newer program\./);
  }
  expect(versionOf(database)).toBe(3);
});
