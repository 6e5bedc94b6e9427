/**
 * A release appears whole or not at all. It is made in a folder beside the old one; two renames exchange them:
 *
 *   site.making-*  ->  site.next (complete, on disk)  ->  [site -> site.previous]  ->  [site.next -> site]
 *
 * No system lets a program exchange two folders in one step everywhere, so a kill between the last two renames leaves no
 * `site`; `settle`, which every command calls before it opens a release, finishes or undoes what was begun. Names begin
 * with a dot: static hosts and copies of the parent folder pass them over.
 */

import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import Database from "better-sqlite3";
import { codings } from "../bytes/compress.js";
import { systemCode, UserError } from "../errors.js";
import { formsOf, MANIFEST, readManifest } from "./manifest.js";

function names(site: string) {
  const path = resolve(site);
  const beside = (suffix: string): string => join(dirname(path), `.${basename(path)}.${suffix}`);
  return {
    site: path,
    next: beside("next"),
    previous: beside("previous"),
    lock: beside("lock"),
    making: beside("making"),
  };
}

/** Puts `site` back in place after a kill in the middle of an exchange. Changes nothing otherwise. */
export function settle(site: string): void {
  const { site: path, next, previous, lock } = names(site);
  if (existsSync(path) || !(existsSync(next) || existsSync(previous))) return;
  try {
    const unlock = lockFile(lock, busyWith(site));
    putBack(site);
    unlock();
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "busy") throw error;
    waitFor(path); // a living build stands between its two renames
  }
}

function putBack(site: string): void {
  const { site: path, next, previous } = names(site);
  if (existsSync(path)) return;
  if (existsSync(next)) renameSync(next, path);
  else if (existsSync(previous)) renameSync(previous, path);
}

/** Two renames take microseconds; a second is for a machine that swaps. */
function waitFor(path: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 100 && !existsSync(path); tries++) Atomics.wait(clock, 0, 0, 10);
}

/**
 * Runs `make` on an empty folder and puts it in the place of `site`. One at a time: a second caller gets UserError
 * `busy`. When `make` throws, the old release stays and nothing is left over.
 */
export async function replaceRelease<Result>(
  site: string,
  make: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { site: path, next, previous, lock, making } = names(site);
  mkdirSync(dirname(path), { recursive: true });
  const unlock = lockFile(lock, busyWith(site));
  try {
    refuseForeignFolder(path);
    putBack(path);
    for (const leftover of [next, previous, making]) rmSync(leftover, { recursive: true, force: true });
    mkdirSync(making);
    try {
      const result = await make(making);
      keepOtherFiles(path, making);
      await syncTree(making);
      renameSync(making, next);
      if (existsSync(path)) renameSync(path, previous);
      renameSync(next, path);
      syncFolder(dirname(path));
      return result;
    } finally {
      for (const leftover of [making, previous]) rmSync(leftover, { recursive: true, force: true });
    }
  } finally {
    unlock();
  }
}

/** What the operator put into the folder (robots.txt, a logo) stays; a file of the new release wins over one of the same name. */
function keepOtherFiles(from: string, to: string): void {
  const own = ownFiles(from);
  if (own === null) return;
  for (const coding of ["", ...Object.values(codings)]) own.add(MANIFEST + coding);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
    if (!entry.isFile() || own.has(path) || existsSync(join(to, path))) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}

/** Paths of a release's own files; null where there is no release, or none that can be read: then nothing is known of the others. */
function ownFiles(site: string): Set<string> | null {
  try {
    const { manifest } = readManifest(site);
    // What only its host reads is its own, too: a _redirects that outlives its release sends requests to a server of long ago.
    return new Set([...formsOf(manifest), ...manifest.files].map(({ path }) => path));
  } catch (error) {
    if (error instanceof UserError && error.code === "damaged") return null;
    throw error;
  }
}

/** `--site ~` must not replace a home folder by a release. */
function refuseForeignFolder(path: string): void {
  if (!existsSync(path) || existsSync(join(path, MANIFEST)) || readdirSync(path).length === 0) return;
  throw new UserError(
    "usage",
    `${path} is a folder with other things in it (no ${MANIFEST}). Name an empty or new folder with --site.`,
  );
}

/** A hidden name beside a release for what belongs to it: `.site.fetching`. */
export function besideRelease(site: string, suffix: string): string {
  const path = resolve(site);
  return join(dirname(path), `.${basename(path)}.${suffix}`);
}

/** Holds a lock of its own beside a release until the returned function is called. Throws UserError `busy`. */
export function lockBeside(site: string, suffix: string): () => void {
  mkdirSync(dirname(resolve(site)), { recursive: true });
  return lockFile(besideRelease(site, suffix), busyWith(site));
}

function busyWith(site: string): string {
  return `Another build or mirror is writing ${site}: wait until it ends.`;
}

/**
 * Holds a lock until the returned function is called, or its holder dies: an SQLite file in an exclusive transaction. The
 * file stays. Throws UserError `busy` with the given message, or `system` where the file cannot be made.
 */
export function lockFile(path: string, busy: string): () => void {
  const database = openLock(path);
  try {
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (systemCode(error) !== "SQLITE_BUSY") throw error;
    throw new UserError("busy", busy, [], { cause: error });
  }
  return () => {
    database.exec("ROLLBACK");
    database.close();
  };
}

function openLock(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 0 });
  } catch (error) {
    if (systemCode(error) !== "SQLITE_CANTOPEN") throw error;
    const folder = dirname(resolve(path));
    throw new UserError("system", `Nothing can be written to ${folder}: is it writable?`, [], {
      cause: error,
    });
  }
}

const SYNCS_AT_A_TIME = 16; // file systems write many waiting syncs in one go

async function syncTree(folder: string): Promise<void> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  let next = 0;
  const work = async (): Promise<void> => {
    for (let path = files[next++]; path !== undefined; path = files[next++]) {
      const file = await open(path, "r+");
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  };
  await Promise.all(Array.from({ length: SYNCS_AT_A_TIME }, work));
  for (const entry of entries) if (entry.isDirectory()) syncFolder(join(entry.parentPath, entry.name));
  syncFolder(folder);
}

/** Windows knows no sync of folders and needs none. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
