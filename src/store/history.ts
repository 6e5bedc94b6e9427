/**
 * What happened to each place from pull to pull, and the steps that lead a copy of an older state to the present one. A
 * step is kept as long as all of them together are smaller than the data: a copy older than that takes everything.
 */

import type Database from "better-sqlite3";
import type { Json, Provenance } from "../place.js";
import { type Change, changeValues, type Difference, gatherChanges } from "./difference.js";
import { placeOfValues } from "./rows.js";

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
  share: 0.5, // of the places: a step that changes more of them is no short cut
} as const;

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
    for (const change of changes) addChange.run(step.number, ...changeValues(change));
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
