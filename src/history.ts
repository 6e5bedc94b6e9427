/**
 * What happened to each place from pull to pull, and the steps that lead a copy of an older state to the present one. A
 * step is kept as long as all of them together are smaller than the data: a copy older than that takes everything.
 */

import type Database from "better-sqlite3";
import { propertyNames, propertyValues } from "./formats/properties.js";
import type { Json, Place, Provenance } from "./place.js";
import { COLUMNS, placeOfValues, rowOf } from "./rows.js";

export const HISTORY_SCHEMA = `
  CREATE TABLE upstream (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
  CREATE TABLE history (id INTEGER PRIMARY KEY, first_seen TEXT NOT NULL, last_changed TEXT NOT NULL, removed TEXT, changed TEXT NOT NULL);
  CREATE TABLE step (number INTEGER PRIMARY KEY, content TEXT NOT NULL, provenance TEXT NOT NULL, places INTEGER NOT NULL, size INTEGER NOT NULL);
  CREATE TABLE change (step INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, former TEXT, place TEXT, PRIMARY KEY (step, id)) WITHOUT ROWID;
  CREATE TABLE fetched (url TEXT PRIMARY KEY, etag TEXT, last_modified TEXT);
`;

const limits = {
  steps: 100, // kept at most
  smallest: 100, // changes that a step may always have, however few places there are
  listed: 1000, // of each kind, in the report of a pull
  share: 0.5, // of the places: a step that changes more of them is no short cut
} as const;

/** A place that is new (former null), differs (former values of what differs, by wire name), or is gone (place null). */
export interface Change {
  readonly id: number;
  readonly name: string;
  readonly former: Readonly<Record<string, Json>> | null;
  readonly place: Place | null;
}

/** A state of the data, and how many places differ from the state before. */
export interface Step {
  readonly number: number;
  readonly content: string;
  readonly provenance: Provenance;
  readonly places: number;
  readonly size: number;
}

/** What is remembered of a place, gone ones included. Dates are those of the data. */
export interface PlaceHistory {
  readonly id: number;
  readonly firstSeen: string;
  readonly lastChanged: string;
  /** null while it is there. */
  readonly removed: string | null;
  /** Wire names of what differed when it last changed. */
  readonly changed: readonly string[];
}

const listed = COLUMNS.split(", ");
const columnsOf = (table: string): string => listed.map((column) => `${table}.${column}`).join(", ");

/**
 * The changes from the places there are to those that came in; gone ones last. Read by batches, because SQLite does not
 * let a connection write while it reads.
 */
function* compare(database: Database.Database): Generator<Change> {
  const came = database.prepare<[number], unknown[]>(
    `SELECT ${columnsOf("new")}, ${columnsOf("old")} FROM temp.incoming new LEFT JOIN main.place old ON old.id = new.id
     WHERE new.id > ? AND (old.id IS NULL OR (${columnsOf("new")}) IS NOT (${columnsOf("old")})) ORDER BY new.id LIMIT 500`,
  );
  for (const row of batches(came)) {
    const place = placeOfValues(row.slice(0, listed.length));
    const isNew = row[listed.length] === null;
    const former = isNew ? null : formerValues(placeOfValues(row.slice(listed.length)), place);
    yield { id: place.id, name: place.name, former, place };
  }
  const gone = database.prepare<[number], unknown[]>(
    "SELECT id, name FROM main.place WHERE id > ? AND id NOT IN (SELECT id FROM temp.incoming) ORDER BY id LIMIT 500",
  );
  for (const [id, name] of batches(gone))
    yield { id: Number(id), name: String(name), former: null, place: null };
}

/** Rows of a statement that takes the last id it gave; the id is the first column. */
function* batches(statement: Database.Statement<[number], unknown[]>): Generator<unknown[]> {
  for (let last = 0; ; ) {
    const rows = statement.raw().all(last);
    yield* rows;
    if (rows.length === 0) return;
    last = Number(rows.at(-1)?.[0]);
  }
}

/** The values that differ, as they were, by wire name. */
function formerValues(before: Place, after: Place): Record<string, Json> {
  const [old, now] = [flatten(before), flatten(after)];
  const former: Record<string, Json> = {};
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const value = old.get(key) ?? null;
    if (JSON.stringify(value) !== JSON.stringify(now.get(key) ?? null)) former[key] = value;
  }
  return former;
}

function flatten(place: Place): Map<string, Json> {
  const values = propertyValues(place);
  return new Map<string, Json>([
    ...propertyNames.map((name, index) => [name, values[index] ?? null] as const),
    ["longitude", place.lon],
    ["latitude", place.lat],
    ...place.extra,
  ]);
}

/** What a pull changed; the lists hold the first thousand each. */
export interface Difference {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly list: readonly { readonly id: number; readonly name: string; readonly what: string }[];
}

/** Writes the step from the places there are to those that came in. Call before the places are exchanged. */
export function recordStep(database: Database.Database, content: string, provenance: Provenance): Difference {
  const number = (database.prepare<[], number>("SELECT max(number) FROM step").pluck().get() ?? 0) + 1;
  const count = database.prepare<[], number>("SELECT count(*) FROM temp.incoming").pluck().get() ?? 0;
  if (number === 1) {
    database
      .prepare("INSERT OR REPLACE INTO history SELECT id, @date, @date, NULL, '[]' FROM temp.incoming")
      .run({ date: provenance.date });
    addStep(database, { number, content, provenance, places: count, size: 0 });
    return { added: count, changed: 0, removed: 0, list: [] };
  }
  database.exec("CREATE TEMP TABLE pending (id INTEGER PRIMARY KEY, name TEXT, former TEXT, place TEXT)");
  const difference = gatherChanges(database);
  noteHistory(database, provenance.date);
  const size = difference.added + difference.changed + difference.removed;
  const most = Math.max(limits.smallest, count);
  const isShortCut = size <= Math.max(limits.smallest, count * limits.share);
  if (!isShortCut) database.exec("DELETE FROM step; DELETE FROM change;");
  addStep(database, { number, content, provenance, places: count, size: isShortCut ? size : 0 });
  if (isShortCut)
    database.prepare("INSERT INTO change SELECT ?, id, name, former, place FROM temp.pending").run(number);
  database.exec("DROP TABLE temp.pending");
  forgetOldSteps(database, most);
  return difference;
}

function addStep(database: Database.Database, { number, content, provenance, places, size }: Step): void {
  database
    .prepare("INSERT INTO step VALUES (?, ?, ?, ?, ?)")
    .run(number, content, JSON.stringify(provenance), places, size);
}

function gatherChanges(database: Database.Database): Difference {
  const insert = database.prepare("INSERT INTO temp.pending VALUES (?, ?, ?, ?)");
  const counts = { added: 0, changed: 0, removed: 0 };
  const list: { id: number; name: string; what: string }[] = [];
  for (const { id, name, former, place } of compare(database)) {
    insert.run(id, name, textOf(former), place === null ? null : JSON.stringify(rowOf(place)));
    const kind = place === null ? "removed" : former === null ? "added" : "changed";
    counts[kind]++;
    const what = former === null ? kind : `changed: ${Object.keys(former).join(", ")}`;
    if (counts[kind] <= limits.listed) list.push({ id, name, what });
  }
  return { ...counts, list };
}

function textOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function noteHistory(database: Database.Database, date: string): void {
  database
    .prepare(
      `INSERT INTO history SELECT id, @date, @date, NULL, '[]' FROM temp.pending WHERE former IS NULL AND place IS NOT NULL
       ON CONFLICT (id) DO UPDATE SET last_changed = @date, removed = NULL, changed = '[]'`,
    )
    .run({ date });
  database
    .prepare(
      `UPDATE history SET last_changed = @date, changed = (SELECT json_group_array(key) FROM pending p, json_each(p.former) WHERE p.id = history.id)
     WHERE id IN (SELECT id FROM temp.pending WHERE former IS NOT NULL)`,
    )
    .run({ date });
  database
    .prepare(
      "UPDATE history SET removed = @date, last_changed = @date WHERE id IN (SELECT id FROM temp.pending WHERE place IS NULL)",
    )
    .run({ date });
}

/** The oldest steps go when there are many, or when together they are more than the data. The oldest left has no changes. */
function forgetOldSteps(database: Database.Database, most: number): void {
  const sizes = database
    .prepare<[], { number: number; size: number }>("SELECT number, size FROM step ORDER BY number DESC")
    .all();
  let kept = 0;
  let oldest = sizes[0]?.number ?? 0;
  for (const { number, size } of sizes.slice(0, limits.steps)) {
    oldest = number;
    if (kept + size > most && kept > 0) break;
    kept += size;
  }
  database.prepare("DELETE FROM step WHERE number < ?").run(oldest);
  database.prepare("DELETE FROM change WHERE step <= ?").run(oldest);
  database.prepare("UPDATE step SET size = 0 WHERE number = ?").run(oldest);
}

/** The states that are remembered, the oldest first: it is where catching up begins, and has no changes. */
export function readSteps(database: Database.Database): Step[] {
  return database
    .prepare<[], { number: number; content: string; provenance: string; places: number; size: number }>(
      "SELECT * FROM step ORDER BY number",
    )
    .all()
    .map((step) => ({ ...step, provenance: JSON.parse(step.provenance) as Provenance }));
}

/** What a step changed, by id. */
export function readChanges(database: Database.Database, step: number): Change[] {
  return database
    .prepare<[number], { id: number; name: string; former: string | null; place: string | null }>(
      "SELECT id, name, former, place FROM change WHERE step = ? ORDER BY id",
    )
    .all(step)
    .map(({ id, name, former, place }) => ({
      id,
      name,
      former: former === null ? null : (JSON.parse(former) as Record<string, Json>),
      place: place === null ? null : placeOfValues(JSON.parse(place) as unknown[]),
    }));
}

/** Takes over the history of the release that the places came from, so that copies of copies have the same files. */
export function replaceSteps(
  database: Database.Database,
  steps: readonly (Step & { readonly changes: readonly Change[] })[],
): void {
  database.exec("DELETE FROM step; DELETE FROM change;");
  const addChange = database.prepare("INSERT INTO change VALUES (?, ?, ?, ?, ?)");
  for (const { changes, ...step } of steps) {
    addStep(database, { ...step, size: changes.length });
    for (const { id, name, former, place } of changes)
      addChange.run(
        step.number,
        id,
        name,
        textOf(former),
        place === null ? null : JSON.stringify(rowOf(place)),
      );
  }
}

/** What is remembered of every place that was ever seen, by id; streams. */
export function* readHistory(database: Database.Database): IterableIterator<PlaceHistory> {
  const rows = database.prepare<
    [],
    { id: number; firstSeen: string; lastChanged: string; removed: string | null; changed: string }
  >(
    "SELECT id, first_seen AS firstSeen, last_changed AS lastChanged, removed, changed FROM history ORDER BY id",
  );
  for (const row of rows.iterate()) yield { ...row, changed: JSON.parse(row.changed) as string[] };
}
