/** The database of a release on disk: where each place is, what it is, and where its bytes begin in each whole export. */

import Database from "better-sqlite3";
import { UserError } from "../errors.js";
import { type FormatName, formatNames } from "../formats/index.js";
import { type BBox, coordinateUnits, type Place } from "../place.js";
import type { Category } from "../taxonomy.js";
import { BLOCK_SIZE, boxBlocks, type NumberArray } from "./blocks.js";
import type { PieceIndex } from "./pieces.js";
import { type Positions, readPositions } from "./positions.js";

const SCHEMA_VERSION = 2; // 1: every position of 8 bytes
// "shlr": the database of a release, not the one that pull writes.
const APPLICATION_ID = 0x73686c72;

const TREE = "CREATE VIRTUAL TABLE block USING rtree_i32(id, west, east, south, north)";

const SCHEMA = `
  CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE ranks (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE envelope (format TEXT, region INTEGER, category INTEGER, prologue BLOB NOT NULL, epilogue BLOB NOT NULL,
    PRIMARY KEY (format, region, category)) WITHOUT ROWID;
`;

/** Region id and category number that stand for "none" in a place and for "all" in an envelope. */
export const ALL = 0;

/** What stands around the places of a cut document. */
export interface Envelope {
  readonly prologue: Buffer;
  readonly epilogue: Buffer;
}

/** Gathers what the release's database holds, in one pass over the places. */
export interface RanksWriter {
  add(place: Place): void;
  setOffsets(format: FormatName, offsets: Positions): void;
  setPieces(format: FormatName, index: PieceIndex): void;
  setEnvelope(
    format: FormatName,
    region: string | null,
    category: Category | null,
    envelope: { readonly prologue: string; readonly epilogue: string },
  ): void;
  /** Writes the database to disk and closes it. */
  finish(): void;
}

/** Starts the database at `path`, which must not exist, for `count` places of these regions. */
export function createRanks(path: string, count: number, regions: readonly string[]): RanksWriter {
  const database = new Database(path);
  // A kill leaves an unfinished release folder, which is thrown away whole: no journal is needed here.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  database.pragma("cache_size = -4096"); // KiB: neighbours are added one after the other
  database.exec("BEGIN");
  database.exec(SCHEMA);
  database.exec(TREE);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${SCHEMA_VERSION}`);
  const regionIds = new Map(regions.map((name, index) => [name, index + 1]));
  const insertRegion = database.prepare("INSERT INTO region VALUES (?, ?)");
  for (const [name, id] of regionIds) insertRegion.run(id, name);
  const arrays = {
    lon: new Int32Array(count),
    lat: new Int32Array(count),
    category: new Uint8Array(count),
    region: new Uint16Array(count),
  };
  const insertArray = database.prepare("INSERT INTO ranks VALUES (?, ?)");
  const insertEnvelope = database.prepare("INSERT INTO envelope VALUES (?, ?, ?, ?, ?)");
  let rank = 0;
  return {
    add: (place) => {
      arrays.lon[rank] = coordinateUnits(place.lon);
      arrays.lat[rank] = coordinateUnits(place.lat);
      arrays.category[rank] = place.category ?? ALL;
      arrays.region[rank] = regionIds.get(place.region ?? "") ?? ALL;
      rank++;
    },
    setOffsets: (format, offsets) => void insertArray.run(`offsets.${format}`, bytesOf(offsets)),
    setPieces: (format, { starts, checks }) => {
      insertArray.run(`pieces.${format}`, bytesOf(starts));
      insertArray.run(`checks.${format}`, bytesOf(checks));
    },
    setEnvelope: (format, region, category, envelope) =>
      void insertEnvelope.run(
        format,
        regionIds.get(region ?? "") ?? ALL,
        category ?? ALL,
        Buffer.from(envelope.prologue),
        Buffer.from(envelope.epilogue),
      ),
    finish: () => {
      for (const [name, array] of Object.entries(arrays)) insertArray.run(name, bytesOf(array));
      const insertBlock = database.prepare("INSERT INTO block VALUES (?, ?, ?, ?, ?)");
      const blocks = boxBlocks(arrays.lon, arrays.lat);
      for (let block = 0; block * BLOCK_SIZE < count; block++) {
        insertBlock.run(
          block,
          blocks.west[block],
          blocks.east[block],
          blocks.south[block],
          blocks.north[block],
        );
      }
      database.exec("COMMIT");
      database.close();
    },
  };
}

function bytesOf(array: NumberArray): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

/** What the database holds, in memory. */
export interface RankFile {
  readonly regions: readonly string[];
  /** Units of 1e-7 degree, by rank. */
  readonly lon: Int32Array;
  readonly lat: Int32Array;
  /** Category by rank; ALL = none. */
  readonly category: Uint8Array;
  /** 1 + position in `regions` by rank; ALL = none. */
  readonly region: Uint16Array;
  offsets(format: FormatName): Positions;
  /** Undefined for a format whose places have no compressed form. */
  pieces(format: FormatName): PieceIndex | undefined;
  envelope(format: FormatName, region: number, category: number): Envelope | undefined;
  /** Blocks whose boxes meet this one (units of 1e-7 degree, edges included), in no order. */
  blocksMeeting(box: BBox): number[];
  close(): void;
}

/**
 * Opens the database from its bytes. What a query needs is held in memory, arrays and R*Tree, so that it costs no system
 * call, no file stays open, and the rest is let go.
 * Throws UserError `damaged` for a foreign, damaged or newer database.
 */
export function readRankFile(bytes: Buffer, name: string): RankFile {
  const database = openDatabase(bytes, name);
  const readArray = database.prepare<[string], Buffer>("SELECT data FROM ranks WHERE name = ?").pluck();
  const isThere = database.prepare<[string], number>("SELECT 1 FROM ranks WHERE name = ?").pluck();
  const buffer = (key: string): ArrayBuffer => {
    const data = readArray.get(key);
    if (data === undefined) throw new UserError("damaged", `${name} lacks ${key}: build the release again.`);
    const isWhole = data.buffer instanceof ArrayBuffer && data.buffer.byteLength === data.length;
    // Large ones come in a buffer of their own; typed arrays over a part of a pool could be out of step.
    return isWhole ? data.buffer : new Uint8Array(data).buffer;
  };
  const category = new Uint8Array(buffer("category"));
  const positions = (key: string): Positions => readPositions(buffer(key), category.length + 1);
  const offsets = new Map(formatNames.map((format) => [format, positions(`offsets.${format}`)]));
  const pieces = new Map(
    formatNames
      .filter((format) => isThere.get(`pieces.${format}`) !== undefined)
      .map((format) => [
        format,
        {
          starts: positions(`pieces.${format}`),
          checks: new Uint32Array(buffer(`checks.${format}`)),
        },
      ]),
  );
  const file = {
    regions: database.prepare<[], string>("SELECT name FROM region ORDER BY id").pluck().all(),
    lon: new Int32Array(buffer("lon")),
    lat: new Int32Array(buffer("lat")),
    category,
    region: new Uint16Array(buffer("region")),
  };
  const envelopes = readEnvelopes(database);
  const tree = copyTree(database);
  database.close();
  const meeting = tree
    .prepare<[number, number, number, number], number>(
      "SELECT id FROM block WHERE east >= ? AND west <= ? AND north >= ? AND south <= ?",
    )
    .pluck();
  return {
    ...file,
    offsets: (format) => offsets.get(format) as Positions,
    pieces: (format) => pieces.get(format),
    envelope: (format, region, category) => envelopes.get(`${format}/${region}/${category}`),
    blocksMeeting: ({ west, east, south, north }) => meeting.all(west, east, south, north),
    close: () => tree.close(),
  };
}

/** The R*Tree by itself, in memory. */
function copyTree(database: Database.Database): Database.Database {
  const tree = new Database(":memory:");
  tree.exec(TREE);
  const insert = tree.prepare("INSERT INTO block VALUES (?, ?, ?, ?, ?)");
  const rows = database.prepare<[], number[]>("SELECT * FROM block ORDER BY id").raw();
  tree.exec("BEGIN");
  for (const row of rows.iterate()) insert.run(...row);
  tree.exec("COMMIT");
  return tree;
}

function openDatabase(bytes: Buffer, name: string): Database.Database {
  try {
    const database = new Database(bytes, { readonly: true });
    const applicationId = database.pragma("application_id", { simple: true });
    const version = Number(database.pragma("user_version", { simple: true }));
    if (applicationId !== APPLICATION_ID)
      throw new UserError("damaged", `${name} is not the database of a release.`);
    if (version > SCHEMA_VERSION)
      throw new UserError(
        "damaged",
        `${name} has schema version ${version}; this program reads up to ${SCHEMA_VERSION}. Use a newer program.`,
      );
    return database;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError("damaged", `${name} is damaged: build or mirror the release again.`, [], {
      cause: error,
    });
  }
}

function readEnvelopes(database: Database.Database): ReadonlyMap<string, Envelope> {
  const rows = database
    .prepare<[], Envelope & { format: string; region: number; category: number }>("SELECT * FROM envelope")
    .all();
  return new Map(
    rows.map(({ format, region, category, prologue, epilogue }) => [
      `${format}/${region}/${category}`,
      { prologue, epilogue },
    ]),
  );
}
