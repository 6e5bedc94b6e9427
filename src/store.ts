/** All SQL about places: the database that `pull` writes in one transaction and `build` reads in canonical order. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { systemCode, UserError } from "./errors.js";
import { type BBox, hilbertKey, type Place, type Provenance } from "./place.js";
import { COLUMNS, type PlaceRow, placeOfRow, rowOf } from "./rows.js";
import { type Category, categoryOfNumber } from "./taxonomy.js";

/** Raised when the tables change; an older program refuses a newer database. */
const SCHEMA_VERSION = 1;
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
`;

/** How many places a region and category have, and the box around them. */
export interface Group {
  readonly region: string | null;
  readonly category: Category | null;
  readonly count: number;
  readonly bbox: BBox;
}

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
  /** Starts a transaction that replaces every place; a second writer gets UserError `busy`. */
  replace(): Replacement;
  close(): void;
}

/** Collects places; nothing is visible before `commit`, and nothing is left after `abandon` or a kill. */
export interface Replacement {
  /** False when a place of this id was added before: the first one stays. */
  add(place: Place): boolean;
  groups(): Group[];
  commit(provenance: Provenance): void;
  abandon(): void;
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
    replace: () => startReplacement(database, path),
    close: () => database.close(),
  };
}

function openDatabase(path: string, create: boolean): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(path, { fileMustExist: !create, timeout: 10_000 });
    if (create) database.pragma("synchronous = FULL");
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

function* readPlaces(database: Database.Database, extraKeys: readonly string[]): IterableIterator<Place> {
  const rows = database.prepare<[], PlaceRow>(`SELECT ${COLUMNS} FROM place ORDER BY rank`);
  for (const row of rows.iterate()) yield placeOfRow(row, extraKeys);
}

function readGroups(database: Database.Database, table: string): Group[] {
  return database
    .prepare<
      [],
      {
        region: string | null;
        category: number | null;
        count: number;
        west: number;
        south: number;
        east: number;
        north: number;
      }
    >(
      `SELECT region, category, count(*) AS count, min(lon) AS west, min(lat) AS south, max(lon) AS east, max(lat) AS north
       FROM ${table} GROUP BY region, category ORDER BY region, category`,
    )
    .all()
    .map(({ region, category, count, ...bbox }) => ({
      region,
      category: categoryOfNumber(category),
      count,
      bbox,
    }));
}

function startReplacement(database: Database.Database, path: string): Replacement {
  // The write lock is asked for at once and not waited for: two pulls at a time would undo each other.
  database.pragma("busy_timeout = 0");
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    if (systemCode(error) !== "SQLITE_BUSY") throw error;
    throw new UserError("busy", `Another pull is writing ${path}: wait until it ends.`, [], { cause: error });
  }
  // A reader (a build) may be at work when the new data are ready; it gets a minute to finish.
  database.pragma("busy_timeout = 60000");
  // Rows are gathered in a temporary file, because their order is known only when the last one is in.
  database.exec(`
    CREATE TEMP TABLE incoming (hilbert INTEGER NOT NULL, ${COLUMNS.replace("id,", "id INTEGER PRIMARY KEY,")});
  `);
  const insert = database.prepare(
    `INSERT OR IGNORE INTO incoming VALUES (${Array(20).fill("?").join(", ")})`,
  );
  const extraKeys = new Set<string>();
  return {
    add: (place) => {
      for (const [key] of place.extra) extraKeys.add(key);
      return insert.run(hilbertKey(place.lon, place.lat), ...rowOf(place)).changes === 1;
    },
    groups: () => readGroups(database, "temp.incoming"),
    commit: (provenance) => {
      database.exec(`
        DELETE FROM place;
        INSERT INTO place SELECT row_number() OVER (ORDER BY hilbert, id) - 1, ${COLUMNS} FROM incoming ORDER BY hilbert, id;
        DROP TABLE incoming;
      `);
      const setMeta = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
      setMeta.run("provenance", JSON.stringify(provenance));
      setMeta.run("extraKeys", JSON.stringify([...extraKeys].sort()));
      setMeta.run("contentHash", hashPlaces(database));
      database.exec("COMMIT");
    },
    abandon: () => {
      if (database.inTransaction) database.exec("ROLLBACK");
    },
  };
}

function hashPlaces(database: Database.Database): string {
  const hash = createHash("sha256");
  for (const row of database
    .prepare<[], unknown[]>(`SELECT ${COLUMNS} FROM place ORDER BY rank`)
    .raw()
    .iterate()) {
    hash.update(`${JSON.stringify(row)}\n`);
  }
  return hash.digest("hex");
}
