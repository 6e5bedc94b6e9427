/** What is at hand of a release before anything is fetched, and what becomes of a part when the budget is spent. */

import { statfsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../errors.js";
import { formsOf, type Manifest, readManifest } from "../release/manifest.js";
import { applyRelease } from "./apply.js";
import { type Cache, isForm } from "./cache.js";
import { partPage } from "./partpage.js";
import { type MirrorPlan, partialManifest } from "./plan.js";

export interface Local {
  readonly manifest: Manifest;
  readonly bytes: Buffer;
}

/** The local release; a damaged one is as good as none. */
export function readLocal(site: string): Local | null {
  try {
    return readManifest(site);
  } catch (error) {
    if (error instanceof UserError && error.code === "damaged") return null;
    throw error;
  }
}

/** Wanted contents by hash, with their paths: of the local release and of the cache, each checked byte by byte. */
export async function takeInventory(
  site: string,
  local: Manifest | null,
  manifest: Manifest,
  cache: Cache,
): Promise<Map<string, string>> {
  const wanted = new Set([...formsOf(manifest)].map(({ sha256 }) => sha256));
  const hand = new Map<string, string>();
  for (const form of local === null ? [] : formsOf(local)) {
    if (!wanted.has(form.sha256) || hand.has(form.sha256)) continue;
    const path = join(site, form.path);
    if (await isForm(path, form)) hand.set(form.sha256, path);
  }
  await cache.sweep(wanted);
  for (const sha256 of wanted) {
    if (!hand.has(sha256) && cache.has(sha256)) hand.set(sha256, cache.path(sha256));
  }
  return hand;
}

/** Throws UserError `system` before the disk is filled, rather than after. */
export function refuseFullDisk({ diskBytes }: MirrorPlan, site: string): void {
  const { bavail, bsize } = statfsSync(dirname(resolve(site)));
  if (bavail * bsize >= diskBytes) return;
  throw new UserError(
    "system",
    `The disk has ${bavail * bsize} bytes left, ${diskBytes} are needed beside ${site}: nothing was changed.`,
  );
}

/**
 * Shows what has come so far where there is no complete release to lose; otherwise the old one stays until the new one is
 * complete. Gives the number of files that are still to come.
 */
export async function keepPart(
  site: string,
  manifest: Manifest,
  local: Manifest | null,
  hand: ReadonlyMap<string, string>,
): Promise<number> {
  const part = partialManifest(manifest, (sha256) => hand.has(sha256));
  const hasWhole = local !== null && local.missing === undefined;
  if (!hasWhole)
    await applyRelease(site, { manifest: part, bytes: null, signature: null, hand, extras: partPage(part) });
  return part.missing ?? 0;
}
