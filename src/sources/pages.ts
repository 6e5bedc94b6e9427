/**
 * What came of a pull so far, page by page, compressed, in an SQLite file beside the database: a pull that was killed
 * goes on behind its last whole page. The file is removed when the pull ends.
 */

import { rmSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { systemCode } from "../errors.js";
import type { Validators } from "./source.js";

const OLDEST = 6 * 60 * 60 * 1000; // ms: pages that waited longer are of another day's data

/** Which requests a page belongs to; null = without that parameter. `look` tells a second request for the same from the first. */
export interface Scope {
  readonly region: string | null;
  readonly category: number | null;
  readonly look: number;
}

export interface Page extends Scope {
  readonly offset: number;
  readonly url: string;
  readonly validators: Validators;
  /** Records in it, and whether the service says or suggests that more follow. */
  readonly count: number;
  readonly more: boolean;
  /** What a release of this program calls its state; null from any other service. */
  readonly generation: string | null;
}

export interface Pages {
  /** When this pull began, kills included: ISO 8601, UTC. */
  readonly startedAt: string;
  /** Pages that an earlier, killed process left. */
  readonly resumed: number;
  find(scope: Scope, offset: number): Page | null;
  add(page: Page, body: Buffer): void;
  list(): Page[];
  body(page: Page): Buffer;
  remove(page: Page): void;
  /** Forgets every page: they are not of one state of the source. */
  clear(): void;
  /** For tables that hold what the pages say while the pull lasts. */
  readonly database: Database.Database;
  close(): void;
}

/** Opens what was kept of a pull of the same `key` (source and options), or begins anew. */
export function openPages(path: string, key: string, finished: string | null): Pages {
  const database = openOrReplace(path, key, finished);
  const meta = (name: string): string =>
    database.prepare<[string], string>("SELECT value FROM meta WHERE key = ?").pluck().get(name) ?? "";
  const resumed = database.prepare<[], number>("SELECT count(*) FROM page").pluck().get() ?? 0;
  const where = "region IS ? AND category IS ? AND look = ? AND start = ?";
  const find = database
    .prepare<(string | number | null)[], string>(`SELECT facts FROM page WHERE ${where}`)
    .pluck();
  const body = database
    .prepare<(string | number | null)[], Buffer>(`SELECT body FROM page WHERE ${where}`)
    .pluck();
  const add = database.prepare("INSERT INTO page VALUES (NULL, ?, ?, ?, ?, ?, ?)");
  const list = database.prepare<[], string>("SELECT facts FROM page ORDER BY number").pluck();
  return {
    startedAt: meta("startedAt"),
    resumed,
    find: ({ region, category, look }, offset) => {
      const facts = find.get(region, category, look, offset);
      return facts === undefined ? null : (JSON.parse(facts) as Page);
    },
    add: (page, bytes) => {
      add.run(page.region, page.category, page.look, page.offset, JSON.stringify(page), gzipSync(bytes));
    },
    list: () => list.all().map((facts) => JSON.parse(facts) as Page),
    body: ({ region, category, look, offset }) =>
      gunzipSync(body.get(region, category, look, offset) ?? gzipSync("")),
    remove: ({ region, category, look, offset }) => {
      database.prepare(`DELETE FROM page WHERE ${where}`).run(region, category, look, offset);
    },
    clear: () => database.exec("DELETE FROM page"),
    database,
    close: () => database.close(),
  };
}

/** Removes what a pull kept. */
export function removePages(path: string): void {
  for (const suffix of ["-journal", ""]) rmSync(path + suffix, { force: true });
}

function openOrReplace(path: string, key: string, finished: string | null): Database.Database {
  try {
    const kept = openKept(path, key, finished);
    if (kept !== null) return kept;
  } catch (error) {
    // A file that the disk damaged is no loss: everything in it can be asked for again.
    if (!["SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR"].includes(systemCode(error) ?? "")) throw error;
  }
  removePages(path);
  const database = new Database(path);
  database.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE page (number INTEGER PRIMARY KEY, region TEXT, category INTEGER, look INTEGER, start INTEGER, facts TEXT NOT NULL, body BLOB NOT NULL);
  `);
  const set = database.prepare("INSERT INTO meta VALUES (?, ?)");
  database.transaction(() => {
    set.run("key", key);
    set.run("startedAt", new Date().toISOString());
  })();
  return database;
}

function openKept(path: string, key: string, finished: string | null): Database.Database | null {
  const database = new Database(path);
  try {
    if (database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() !== 0) {
      const meta = new Map(database.prepare<[], [string, string]>("SELECT key, value FROM meta").raw().all());
      const startedAt = meta.get("startedAt") ?? "";
      const age = Date.now() - Date.parse(startedAt);
      if (meta.get("key") === key && startedAt > (finished ?? "") && age >= 0 && age < OLDEST)
        return database;
    }
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return null;
}
