/** The transaction that exchanges all places of the database: nothing of it is visible before it is whole. */

import { createHash } from "node:crypto";
import type Database from "better-sqlite3";
import { systemCode, UserError } from "../errors.js";
import { hilbertKey, type Place, type Provenance } from "../place.js";
import type { Origin, Validators } from "../sources/source.js";
import type { Change, Difference } from "./difference.js";
import { type Group, readGroups } from "./groups.js";
import { recordStep, replaceSteps, type Step } from "./history.js";
import { COLUMNS, rowOf } from "./rows.js";

/** What a pull knows, beside places and provenance, when its last place is in. */
export interface Outcome {
  /** The date is only when the data were asked for: it stays what it was when nothing else changed. */
  readonly dateIsClock: boolean;
  readonly origin: Origin | null;
  readonly validators: readonly Validators[];
  /** What the next pull must have in common to ask with these validators. */
  readonly key: string;
  /** When the pull ends. */
  readonly checked: () => string;
  /** The history of the release that the places came from; empty for any other source. */
  readonly steps: readonly (Step & { readonly changes: readonly Change[] })[];
  /** The report, from what the pull changed; it stays in the database. */
  report(difference: Difference, provenance: Provenance): unknown;
}

/** Collects places; nothing is visible before `commit`, and nothing is left after `abandon` or a kill. */
export interface Replacement {
  /** False when a place of this id was added before: the first one stays. `raw` is the record as the source sent it. */
  add(place: Place, raw?: string): boolean;
  groups(): Group[];
  commit(
    provenance: Provenance,
    outcome?: Outcome,
  ): { readonly difference: Difference; readonly provenance: Provenance };
  /** Ends without new places: the source holds what it held. */
  keep(checked: string): void;
  abandon(): void;
}

/** Starts it; a second writer gets UserError `busy` at once. */
export function startReplacement(database: Database.Database, path: string): Replacement {
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
    CREATE TEMP TABLE incoming (hilbert INTEGER NOT NULL, ${COLUMNS.replace("id,", "id INTEGER PRIMARY KEY,")}, raw TEXT);
  `);
  const insert = database.prepare(
    `INSERT OR IGNORE INTO incoming VALUES (${Array(21).fill("?").join(", ")})`,
  );
  const extraKeys = new Set<string>();
  return {
    add: (place, raw) => {
      const isFirst =
        insert.run(hilbertKey(place.lon, place.lat), ...rowOf(place), raw ?? null).changes === 1;
      if (isFirst) for (const [key] of place.extra) extraKeys.add(key);
      return isFirst;
    },
    groups: () => readGroups(database, "temp.incoming"),
    commit: (provenance, outcome = PLAIN) => {
      const done = exchange(database, provenance, outcome, [...extraKeys].sort());
      database.exec("COMMIT");
      return done;
    },
    keep: (checked) => {
      setMeta(database, { checked });
      database.exec("COMMIT");
    },
    abandon: () => {
      if (database.inTransaction) database.exec("ROLLBACK");
    },
  };
}

/** Places that come from no source that could be asked again. */
const PLAIN: Outcome = {
  dateIsClock: false,
  origin: null,
  validators: [],
  key: "",
  checked: () => "",
  steps: [],
  report: () => null,
};

function exchange(
  database: Database.Database,
  given: Provenance,
  outcome: Outcome,
  extraKeys: readonly string[],
) {
  const meta = new Map(database.prepare<[], [string, string]>("SELECT key, value FROM meta").raw().all());
  const contentHash = hashIncoming(database, extraKeys);
  const provenance = outcome.dateIsClock
    ? settleDate(given, meta.get("provenance"), meta.get("contentHash") === contentHash)
    : given;
  const same =
    meta.get("contentHash") === contentHash && meta.get("provenance") === JSON.stringify(provenance);
  const difference = same
    ? { added: 0, changed: 0, removed: 0, list: [] }
    : recordStep(database, contentHash, provenance);
  const isInherited = isHistoryOf(outcome.steps, contentHash, provenance);
  if (isInherited) replaceSteps(database, outcome.steps);
  if (!same) {
    database.exec(`
      DELETE FROM place;
      INSERT INTO place SELECT row_number() OVER (ORDER BY hilbert, id) - 1, ${COLUMNS} FROM temp.incoming ORDER BY hilbert, id;
    `);
    setMeta(database, {
      provenance: JSON.stringify(provenance),
      extraKeys: JSON.stringify(extraKeys),
      contentHash,
      origin: JSON.stringify(outcome.origin),
    });
  }
  database.exec(`
    DELETE FROM upstream;
    INSERT INTO upstream SELECT id, raw FROM temp.incoming WHERE raw IS NOT NULL;
    DROP TABLE temp.incoming;
    DELETE FROM fetched;
  `);
  const remember = database.prepare("INSERT OR REPLACE INTO fetched VALUES (?, ?, ?)");
  for (const { url, etag, lastModified } of outcome.validators) remember.run(url, etag, lastModified);
  const report = JSON.stringify(outcome.report(difference, provenance));
  setMeta(database, { report, checked: outcome.checked(), key: outcome.key });
  return { difference, provenance };
}

/** The same places with the same words are the same data, whenever they were asked for. */
function settleDate(given: Provenance, stored: string | undefined, isSameContent: boolean): Provenance {
  if (!isSameContent || stored === undefined) return given;
  return { ...given, date: (JSON.parse(stored) as Provenance).date };
}

function isHistoryOf(steps: Outcome["steps"], content: string, provenance: Provenance): boolean {
  const last = steps.at(-1);
  return (
    last !== undefined &&
    last.content === content &&
    JSON.stringify(last.provenance) === JSON.stringify(provenance)
  );
}

function setMeta(database: Database.Database, values: Readonly<Record<string, string>>): void {
  const set = database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
  for (const [key, value] of Object.entries(values)) set.run(key, value);
}

/** SHA-256 of the places that came in, in canonical order, and of the keys that each of them lists. */
function hashIncoming(database: Database.Database, extraKeys: readonly string[]): string {
  const hash = createHash("sha256");
  if (extraKeys.length > 0) hash.update(`${JSON.stringify(extraKeys)}\n`);
  for (const row of database
    .prepare<[], unknown[]>(`SELECT ${COLUMNS} FROM temp.incoming ORDER BY hilbert, id`)
    .raw()
    .iterate()) {
    hash.update(`${JSON.stringify(row)}\n`);
  }
  return hash.digest("hex");
}
