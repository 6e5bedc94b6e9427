/** What a pull changes: the places that came in beside those there are, value by value. */

import type Database from "better-sqlite3";
import { propertyNames, propertyValues } from "../formats/properties.js";
import type { Json, Place } from "../place.js";
import { COLUMNS, placeOfValues, rowOf } from "./rows.js";

const LISTED = 1000; // changes of each kind in the report of a pull

/** A place that is new (former null), differs (former values of what differs, by wire name), or is gone (place null). */
export interface Change {
  readonly id: number;
  readonly name: string;
  readonly former: Readonly<Record<string, Json>> | null;
  readonly place: Place | null;
}

/** What a pull changed; the lists hold the first thousand each. */
export interface Difference {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly list: readonly { readonly id: number; readonly name: string; readonly what: string }[];
}

/** Fills the temporary table `pending` with every change from the places there are to those that came in. */
export function gatherChanges(database: Database.Database): Difference {
  database.exec("CREATE TEMP TABLE pending (id INTEGER PRIMARY KEY, name TEXT, former TEXT, place TEXT)");
  const insert = database.prepare("INSERT INTO temp.pending VALUES (?, ?, ?, ?)");
  const counts = { added: 0, changed: 0, removed: 0 };
  const list: { id: number; name: string; what: string }[] = [];
  for (const change of compare(database)) {
    const { id, name, former, place } = change;
    insert.run(...changeValues(change));
    const kind = place === null ? "removed" : former === null ? "added" : "changed";
    counts[kind]++;
    const what = former === null ? kind : `changed: ${Object.keys(former).join(", ")}`;
    if (counts[kind] <= LISTED) list.push({ id, name, what });
  }
  return { ...counts, list };
}

/** A change as the database keeps it: id, name, former values, place. */
export function changeValues({ id, name, former, place }: Change): (number | string | null)[] {
  return [
    id,
    name,
    former === null ? null : JSON.stringify(former),
    place === null ? null : JSON.stringify(rowOf(place)),
  ];
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
    // Rows of an older program may say the same in another way.
    if (former !== null && Object.keys(former).length === 0) continue;
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
