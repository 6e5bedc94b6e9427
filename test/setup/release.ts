/** Real databases and releases in temporary folders. */

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "../../src/build/build.js";
import type { HostName } from "../../src/hosts/hosts.js";
import type { Provenance } from "../../src/place.js";
import { pull } from "../../src/pull/pull.js";
import { type Manifest, readManifest } from "../../src/release/manifest.js";
import { temporaryFolder } from "./folders.js";

export interface BuiltRelease {
  /** Holds the source, the database and the release. */
  readonly folder: string;
  readonly database: string;
  readonly site: string;
  readonly manifest: Manifest;
}

export const about = {
  title: "Made-up shelters",
  attribution: "Nobody & sons",
  license: "https://example.org/terms",
  date: "2026-01-02T03:04:05Z",
} as const;

/** A build without what takes most of its time, for tests that look at neither: brotli forms and tiles. */
export const lean = { brotli: false, map: { maxZoom: null } } as const satisfies Partial<BuildOptions>;

/** Writes records as a JSON file that `pull --from` takes; gives its path. */
export function writeSource(folder: string, records: readonly unknown[], name = "places.json"): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(records));
  return path;
}

/** Pulls records into a database. */
export async function pullRecords(
  database: string,
  records: readonly unknown[],
  said: Partial<Provenance> = {},
): Promise<void> {
  const from = writeSource(temporaryFolder(), records);
  await pull({ from, database, force: true, about: { ...about, ...said }, onProgress: () => {} });
}

/** Builds the release of records in a temporary folder. */
export async function buildRelease(
  records: readonly unknown[],
  options: Partial<BuildOptions> = {},
): Promise<BuiltRelease> {
  const folder = temporaryFolder();
  const database = join(folder, "data", "places.sqlite");
  const site = join(folder, "public", "site");
  await pullRecords(database, records);
  await rebuild(database, site, options);
  return { folder, database, site, manifest: readManifest(site).manifest };
}

/** Builds the release of a database. */
export function rebuild(database: string, site: string, options: Partial<BuildOptions> = {}) {
  return build({ ...options, database, site, onProgress: () => {} });
}

/** Builds the release of the sample of real places; `said` overrides what stands beside it. Gives its folder. */
export async function buildSample(
  said: { readonly date?: string } = {},
  options: Partial<BuildOptions> = {},
): Promise<string> {
  const folder = temporaryFolder();
  const database = join(folder, "places.sqlite");
  await pull({ from: "data/places.csv", database, force: false, about: said, onProgress: () => {} });
  await rebuild(database, join(folder, "site"), options);
  return join(folder, "site");
}

/** Builds the same places for a host, beside the release; what is the same is not compressed again. Gives the folder. */
export async function builtFor(
  { folder, site: from, database }: BuiltRelease,
  host: HostName,
  api: string | null = null,
): Promise<string> {
  const site = join(folder, "public", api === null ? host : `${host}-api`);
  cpSync(from, site, { recursive: true });
  await rebuild(database, site, { host, api });
  return site;
}
