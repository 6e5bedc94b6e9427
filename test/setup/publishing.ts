/** Two generations of a release, and `shelters publish` as users run it. */

import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import type { BuildOptions } from "../../src/build/build.js";
import { INVENTORY } from "../../src/publish/inventory.js";
import { offerRelease } from "../../src/publish/offered.js";
import type { PublishOptions } from "../../src/publish/publish.js";
import { LOCK, type Target } from "../../src/publish/targets/target.js";
import {
  formatManifest,
  formsOf,
  MANIFEST,
  type Manifest,
  readManifest,
} from "../../src/release/manifest.js";
import { type Run, runCli } from "./cli.js";
import { digestsBelow, filesBelow } from "./folders.js";
import { madePlaces } from "./madeplaces.js";
import { buildRelease, pullRecords, rebuild } from "./release.js";

export interface Generations {
  readonly older: string;
  /** Has other texts, and a region less. */
  readonly newer: string;
  /** Database of the newer one. */
  readonly database: string;
}

/**
 * Takes the exports of single categories out of a release, and out of its manifest: a fifth of the objects is left, of every
 * kind. What goes over to a target does not depend on how many there are.
 */
export function thin(site: string): void {
  const { manifest } = readManifest(site);
  const isKept = (path: string): boolean => !/^exports\/[^/]+\/(?!all\.)/.test(path);
  const named = new Set([...formsOf(manifest)].map(({ path }) => path));
  for (const path of filesBelow(site)) if (named.has(path) && !isKept(path)) rmSync(join(site, path));
  const text = formatManifest({ ...manifest, files: manifest.files.filter(({ path }) => isKept(path)) });
  writeFileSync(join(site, MANIFEST), text);
  writeFileSync(join(site, `${MANIFEST}.gz`), gzipSync(text));
  rmSync(join(site, `${MANIFEST}.br`), { force: true });
}

/** Builds two generations, thin and without tiles. */
export async function buildGenerations(options: Partial<BuildOptions> = {}): Promise<Generations> {
  const withoutTiles = { ...options, map: { maxZoom: null } };
  const records = madePlaces(40).map((place, index) => ({ ...place, region: index < 5 ? "Lost" : "" }));
  const { folder, site: older } = await buildRelease(records, withoutTiles);
  const newer = join(folder, "newer");
  cpSync(older, newer, { recursive: true }); // what is the same need not be compressed again
  const changed = records.map((place) => ({ ...place, region: "", commentaire: "neige" }));
  const database = join(folder, "newer.sqlite");
  await pullRecords(database, changed, { date: "2026-02-02T00:00:00Z" });
  await rebuild(database, newer, withoutTiles);
  for (const site of [older, newer]) thin(site);
  return { older, newer, database };
}

/** What `publish --json` says. */
export interface Result {
  readonly new: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  readonly deletable: readonly string[];
  readonly waiting: readonly string[];
  readonly order: readonly string[];
  readonly purge: readonly string[];
}

/** Publishes to the end; `env` is for a bucket. */
export function publishing(
  site: string,
  target: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  return runCli(["--json", "publish", "--site", site, ...flags, target], { env });
}

/** What a publish that succeeded said. */
export function resultOf({ code, stdout, stderr }: Run): Result {
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Result;
}

/** Options of a publish in this process, without a grace time. */
export async function optionsFor(site: string, target: Target): Promise<PublishOptions> {
  const release = await offerRelease(site, { gzip: false });
  return { release, target, force: false, grace: 0, now: 0, onProgress: () => {} };
}

/** Files of the release in a folder, without what publish keeps beside them. */
export function published(folder: string): Record<string, string> {
  const { [INVENTORY]: _, [LOCK]: __, ...files } = digestsBelow(folder);
  return files;
}

/** Paths that a manifest names and that are not there. */
export function missing(manifest: Manifest, there: ReadonlySet<string>): string[] {
  return [...formsOf(manifest)].map(({ path }) => path).filter((path) => !there.has(path));
}
