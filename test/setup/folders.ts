/** Temporary folders of a test file, removed when it ends; and what lies in a folder. */

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { atEnd } from "./cleanup.js";

/** A new empty folder; it is removed at the end of the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "shelters-test-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Paths of all files below a folder, with forward slashes, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

/** SHA-256 of all files below a folder, by path: what a comparison that fails can print. */
export function digestsBelow(folder: string): Record<string, string> {
  const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  return Object.fromEntries([...contentsBelow(folder)].map(([path, bytes]) => [path, digest(bytes)]));
}

/** Content of all files below a folder, by path. */
export function contentsBelow(folder: string): Map<string, Buffer> {
  return new Map(filesBelow(folder).map((path) => [path, readFileSync(join(folder, path))]));
}
