/**
 * A release built again here from its places, so that its other files need not be fetched. What comes out is taken only
 * where its hash is the one in the manifest; the same places and the same program give the same bytes.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../build/build.js";
import { generationOf } from "../build/facts.js";
import { systemCode, UserError } from "../errors.js";
import { program } from "../program.js";
import { pull } from "../pull/pull.js";
import { formsOf, type Manifest, readManifest } from "../release/manifest.js";
import { openStore } from "../store/store.js";
import { type Cache, linkOrCopy } from "./cache.js";
import { WHOLE } from "./plan.js";

const DELTA_BELOW = 64e6; // bytes of the whole export: applying changes holds it in memory

export interface Rebuild {
  /** The local release, if there is one: what did not change is not compressed again. */
  readonly site: string;
  readonly manifest: Manifest;
  readonly cache: Cache;
  readonly hand: Map<string, string>;
}

/** Whether this program wrote the release, so that it can write it again. */
export function canRebuild(manifest: Manifest): boolean {
  return manifest.generator === program.generator && manifest.files.some(({ path }) => path === WHOLE);
}

/** Rebuilds from the whole export, which must be at hand. False when that would give another release. */
export async function rebuildFromWhole(rebuild: Rebuild): Promise<boolean> {
  const whole = rebuild.manifest.files.find(({ path }) => path === WHOLE);
  const path = rebuild.hand.get(whole?.sha256 ?? "");
  return path !== undefined && buildFrom(rebuild, (target) => linkOrCopy(path, target));
}

/** Steps of `changes/` that lead from a local release to a new one: none where the places are the same; null where none lead. */
export function stepsBetween(local: Manifest, manifest: Manifest): readonly string[] | null {
  if (local.content === manifest.content) return [];
  const known = new Set(numberedSteps(local).map(({ path }) => path));
  const last = Math.max(0, ...numberedSteps(local).map(({ number }) => number));
  const steps = numberedSteps(manifest).filter(({ path }) => !known.has(path));
  return steps.length > 0 && steps.every(({ number }) => number > last)
    ? steps.map(({ path }) => path)
    : null;
}

function numberedSteps(manifest: Manifest): readonly { readonly number: number; readonly path: string }[] {
  return manifest.files
    .map(({ path }) => ({ path, number: Number(/^changes\/(\d+)-[0-9a-f]+\.json$/.exec(path)?.[1]) }))
    .filter(({ number }) => Number.isSafeInteger(number))
    .sort((a, b) => a.number - b.number);
}

interface Feature {
  readonly id: number;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Step {
  readonly upserts: readonly { readonly feature: Feature }[];
  readonly removed: readonly { readonly id: number }[];
}

/** Rebuilds from the whole export of an older release and the changes since. False when that does not lead to the release. */
export async function rebuildFromChanges(
  rebuild: Rebuild,
  older: string,
  steps: readonly string[],
): Promise<boolean> {
  const text = readFileSync(older);
  if (text.length > DELTA_BELOW) return false;
  let features: Map<number, Feature>;
  try {
    const parsed = JSON.parse(text.toString("utf8")) as { readonly features: readonly Feature[] };
    features = new Map(parsed.features.map((feature) => [feature.id, feature]));
    for (const path of steps) applyStep(features, JSON.parse(readFileSync(path, "utf8")) as Step);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false; // not the files that they seem to be
    throw error;
  }
  // A key whose last value went away is null in the older export, and gone from the new one: both readings are tried.
  for (const read of [(feature: Feature) => feature, withoutNulls]) {
    const collection = { type: "FeatureCollection", features: [...features.values()].map(read) };
    if (await buildFrom(rebuild, (target) => writeFileSync(target, JSON.stringify(collection)))) return true;
  }
  return false;
}

function withoutNulls(feature: Feature): Feature {
  const properties = Object.entries(feature.properties).filter(([, value]) => value !== null);
  return { ...feature, properties: Object.fromEntries(properties) };
}

function applyStep(features: Map<number, Feature>, { upserts, removed }: Step): void {
  for (const { feature } of upserts) features.set(feature.id, feature);
  for (const { id } of removed) features.delete(id);
}

async function buildFrom(rebuild: Rebuild, putPlaces: (target: string) => void): Promise<boolean> {
  const scratch = join(rebuild.cache.folder, "rebuild");
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch);
  try {
    const from = join(scratch, "all.geojson");
    putPlaces(from);
    return await buildInto(scratch, from, rebuild);
  } catch (error) {
    // Then the files are fetched: that takes less room than building beside them.
    const isFull = ["ENOSPC", "EDQUOT", "SQLITE_FULL"].includes(systemCode(error) ?? "");
    if (isFull || (error instanceof UserError && error.code !== "system")) return false;
    throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function buildInto(
  scratch: string,
  from: string,
  { site: former, manifest, cache, hand }: Rebuild,
): Promise<boolean> {
  const database = join(scratch, "places.sqlite");
  const { title, attribution, license, date } = manifest;
  const about = { title, attribution, license, date };
  await pull({ from, database, force: true, about, onProgress: () => {} });
  const store = openStore(database);
  const generation = generationOf(store);
  store.close();
  if (generation !== manifest.generation) return false;
  const site = join(scratch, "site");
  await build({
    database,
    site,
    former,
    brotli: manifest.files.some(({ codings }) => codings.br !== undefined),
    ...(manifest.maxTileZoom !== undefined && { map: { maxZoom: manifest.maxTileZoom } }),
    onProgress: () => {},
  });
  const wanted = new Set([...formsOf(manifest)].map(({ sha256 }) => sha256));
  for (const { path, sha256 } of formsOf(readManifest(site).manifest)) {
    if (!wanted.has(sha256) || hand.has(sha256)) continue;
    renameSync(join(site, path), cache.path(sha256));
    hand.set(sha256, cache.path(sha256));
  }
  return true;
}
