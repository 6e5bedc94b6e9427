/** All SQL about places: the database that `pull` writes in one transaction and `build` reads in canonical order. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { systemCode, UserError } from "../errors.js";
import type { Place, Provenance } from "../place.js";
import type { Origin, Validators } from "../sources/source.js";
import type { Change } from "./difference.js";
import { type Group, readGroups } from "./groups.js";
import {
  HISTORY_SCHEMA,
  type PlaceHistory,
  readChanges,
  readHistory,
  readSteps,
  type Step,
} from "./history.js";
import { type Replacement, startReplacement } from "./replacement.js";
import { COLUMNS, type PlaceRow, placeOfRow } from "./rows.js";

export type { Group } from "./groups.js";

/** Raised when the tables change; an older program refuses a newer database. */
const SCHEMA_VERSION = 2;
// "shel", so that a foreign SQLite file is told apart from ours.
const APPLICATION_ID = 0x7368656c;

// rank = position in canonical order = rowid: reading in rank order is reading the file from front to back.
const SCHEMA = `
  CREATE TABLE place (
    rank INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, name TEXT NOT NULL, lon REAL NOT NULL, lat REAL NOT NULL,
    category INTEGER, category_slug TEXT NOT NULL, region TEXT, commune TEXT NOT NULL, url TEXT NOT NULL,
    description TEXT NOT NULL, comment TEXT NOT NULL, photo TEXT NOT NULL, altitude_text TEXT, altitude REAL,
    summer_text TEXT NOT NULL, summer_capacity INTEGER, winter_text TEXT NOT NULL, winter_capacity INTEGER,
    extra TEXT NOT NULL
  );
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  ${HISTORY_SCHEMA}
`;

export interface Store {
  /** What the data set says of itself; throws UserError `damaged` when nothing was pulled yet. */
  provenance(): Provenance;
  /** SHA-256 (hex) of every place in canonical order: the same places give the same hash, in whatever order they came. */
  contentHash(): string;
  /** Keys of the passed-through values, in the order in which every place lists them. */
  extraKeys(): readonly string[];
  count(): number;
  /** Counts and boxes of each region and category that has places, in a stable order. */
  groups(): Group[];
  /** Every place, in canonical order; streams. */
  places(): IterableIterator<Place>;
  /** Where the places came from and what pulling them was like; null where they came from a file. */
  origin(): Origin | null;
  /** The states that are remembered, the oldest first. */
  steps(): Step[];
  /** What the step to a state changed, by id. */
  changes(step: number): Change[];
  /** First seen, last changed, removed: of every place that was ever here, by id; streams. */
  history(): IterableIterator<PlaceHistory>;
  /** The record of a place as a service sent it; null where it came from elsewhere. */
  upstream(id: number): unknown;
  /** The last pull: what it asked with, when it began, and its report; nulls where there was none. */
  lastPull(): {
    readonly key: string | null;
    readonly checked: string | null;
    readonly validators: readonly Validators[];
    readonly report: unknown;
  };
  /** Starts a transaction that replaces every place; a second writer gets UserError `busy`. */
  replace(): Replacement;
  close(): void;
}

/** Opens the database, or makes an empty one when `create` is set. Throws UserError `damaged` for what is none of ours. */
export function openStore(path: string, options: { readonly create?: boolean } = {}): Store {
  const create = options.create ?? false;
  if (!create && !existsSync(path)) {
    throw new UserError("damaged", `There is no database at ${path}. Run \`shelters pull\` first.`);
  }
  if (create) mkdirSync(dirname(path), { recursive: true });
  const database = openDatabase(path, create);
  const meta = (key: string): string | null =>
    database.prepare<[string], string>("SELECT value FROM meta WHERE key = ?").pluck().get(key) ?? null;
  const pulled = (key: string): string => {
    const value = meta(key);
    if (value === null)
      throw new UserError("damaged", `${path} holds no places yet. Run \`shelters pull\` first.`);
    return value;
  };
  return {
    provenance: () => JSON.parse(pulled("provenance")) as Provenance,
    contentHash: () => pulled("contentHash"),
    extraKeys: () => JSON.parse(pulled("extraKeys")) as string[],
    count: () => database.prepare<[], number>("SELECT count(*) FROM place").pluck().get() ?? 0,
    groups: () => readGroups(database, "main.place"),
    places: () => readPlaces(database, JSON.parse(pulled("extraKeys")) as string[]),
    origin: () => JSON.parse(meta("origin") ?? "null") as Origin | null,
    steps: () => readSteps(database),
    changes: (step) => readChanges(database, step),
    history: () => readHistory(database),
    upstream: (id) =>
      JSON.parse(
        database.prepare<[number], string>("SELECT record FROM upstream WHERE id = ?").pluck().get(id) ??
          "null",
      ),
    lastPull: () => ({
      key: meta("key"),
      checked: meta("checked"),
      validators: database
        .prepare<[], Validators>(
          "SELECT url, etag, last_modified AS lastModified FROM fetched ORDER BY rowid",
        )
        .all(),
      report: JSON.parse(meta("report") ?? "null"),
    }),
    replace: () => startReplacement(database, path),
    close: () => database.close(),
  };
}

const READING_CACHE = 2048; // KiB: places are read from the first to the last, and a build has several connections

function openDatabase(path: string, create: boolean): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(path, { fileMustExist: !create, timeout: 10_000 });
    if (create) database.pragma("synchronous = FULL");
    else database.pragma(`cache_size = ${-READING_CACHE}`);
    const applicationId = database.pragma("application_id", { simple: true });
    const version = Number(database.pragma("user_version", { simple: true }));
    const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
    if (isEmpty && create) {
      const fresh = database;
      fresh
        .transaction(() => {
          fresh.exec(SCHEMA);
          fresh.pragma(`application_id = ${APPLICATION_ID}`);
          fresh.pragma(`user_version = ${SCHEMA_VERSION}`);
        })
        .exclusive();
    } else if (isEmpty) {
      throw new UserError("damaged", `${path} is an empty file. Run \`shelters pull\` first.`);
    } else if (applicationId !== APPLICATION_ID) {
      throw new UserError(
        "damaged",
        `${path} is not a database of mountain-shelters: it is left alone. Name another one with --database.`,
      );
    } else if (version > SCHEMA_VERSION) {
      throw new UserError(
        "damaged",
        `${path} has schema version ${version}; this program reads up to ${SCHEMA_VERSION}. Use a newer program.`,
      );
    } else if (version === 1) {
      migrate(database);
    }
    return database;
  } catch (error) {
    database?.close();
    if (["SQLITE_NOTADB", "SQLITE_CORRUPT"].includes(systemCode(error) ?? "")) {
      throw new UserError(
        "damaged",
        `${path} is damaged or is no SQLite database. Remove it and run \`shelters pull\`.`,
        [],
        { cause: error },
      );
    }
    if (systemCode(error) === "SQLITE_CANTOPEN") {
      throw new UserError(
        "system",
        `${path} cannot be opened: is it a folder, or is its folder not writable?`,
        [],
        { cause: error },
      );
    }
    throw error;
  }
}

/** Version 1 had no history: it begins with the places that are there. */
function migrate(database: Database.Database): void {
  database
    .transaction(() => {
      if (database.pragma("user_version", { simple: true }) !== 1) return;
      database.exec(HISTORY_SCHEMA);
      database.exec(`
        INSERT INTO step SELECT 1, (SELECT value FROM meta WHERE key = 'contentHash'), value, (SELECT count(*) FROM place), 0
          FROM meta WHERE key = 'provenance';
        INSERT INTO history SELECT id, json_extract(value, '$.date'), json_extract(value, '$.date'), NULL, '[]'
          FROM place, meta WHERE key = 'provenance';
      `);
      database.pragma(`user_version = ${SCHEMA_VERSION}`);
    })
    .exclusive();
}

function* readPlaces(database: Database.Database, extraKeys: readonly string[]): IterableIterator<Place> {
  const rows = database.prepare<[], PlaceRow>(`SELECT ${COLUMNS} FROM place ORDER BY rank`);
  for (const row of rows.iterate()) yield placeOfRow(row, extraKeys);
}
