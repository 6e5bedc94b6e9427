/** What a publish would do: which objects are new, changed or unneeded, in which order they go, and what a cache must forget. */

import { UserError } from "../errors.js";
import { type Inventory, publishedManifest, readInventory } from "./inventory.js";
import { type OfferedRelease, stageOf, stages } from "./offered.js";
import type { PublishObject, Target } from "./targets/target.js";

export interface PlanOptions {
  readonly release: OfferedRelease;
  readonly target: Target;
  /** Overwrite foreign objects and newer releases. */
  readonly force: boolean;
  /** Milliseconds for which an object that no manifest names is kept. */
  readonly grace: number;
  /** Now, in milliseconds since 1970. */
  readonly now: number;
}

export interface PublishPlan {
  /** What is to be put, in order; every stage ends before the next one begins. The manifest is the last stage. */
  readonly stages: readonly (readonly PublishObject[])[];
  readonly new: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Ours, named by no manifest for longer than the grace time: removed after the manifest was put. */
  readonly deletable: readonly string[];
  /** Ours and unneeded, kept until the grace time is over. */
  readonly waiting: readonly string[];
  /** Paths whose content changes under the same name. */
  readonly purge: readonly string[];
  readonly inventory: Inventory;
}

/**
 * Compares a release with a target, by content and headers; writes nothing. Throws UserError: `refused` (foreign objects in
 * the way, or a newer release there), `system` (the target cannot be read).
 */
export async function planPublish(options: PlanOptions): Promise<PublishPlan> {
  const { release, target, force } = options;
  const { manifest, objects } = release;
  const found = await target.list();
  const published = await publishedManifest(target, found);
  if (!force && published !== null && published.date > manifest.date) {
    const older = `${target.title} has data of ${published.date}, the release of ${manifest.date}`;
    throw new UserError("refused", `${older}: an older release is put with --force only.`);
  }
  const inventory = await readInventory(target, found, published);
  const foreign = objects.filter(({ path }) => found.has(path) && !inventory.has(path));
  if (!force && foreign.length > 0) {
    const summary = `${target.title} has objects of the same names that were not published from here. Choose another place, or overwrite them with --force.`;
    const named = foreign.slice(0, 20).map(({ path }) => path);
    throw new UserError("refused", summary, named);
  }
  return compare(options, found, inventory);
}

/** Whether there is anything to do. */
export function isWork({ stages, deletable, waiting, inventory }: PublishPlan): boolean {
  const isNewlyUnneeded = (path: string): boolean => inventory.get(path)?.unneededSince === null;
  return stages.flat().length + deletable.length > 0 || waiting.some(isNewlyUnneeded);
}

/** Headers that an object is put with, as one text. */
export function settingsOf({ mediaType, cacheControl, contentEncoding }: PublishObject): string {
  return [mediaType, cacheControl, contentEncoding ?? ""].join(" | ");
}

function compare(
  { release: { objects }, grace, now }: PlanOptions,
  found: ReadonlyMap<string, string>,
  inventory: Inventory,
): PublishPlan {
  const isUnchanged = (object: PublishObject): boolean => {
    const entry = inventory.get(object.path);
    return (
      entry !== undefined &&
      entry.mark !== null &&
      entry.mark === found.get(object.path) &&
      entry.sha256 === object.sha256 &&
      entry.settings === settingsOf(object)
    );
  };
  const puts = objects.filter((object) => !isUnchanged(object));
  const needed = new Set(objects.map(({ path }) => path));
  const isDue = (path: string): boolean => {
    const since = inventory.get(path)?.unneededSince ?? null;
    return now - (since === null ? now : Date.parse(since)) >= grace;
  };
  // Whoever wrote over an object of ours made it theirs: it is left alone.
  const unneeded = [...inventory]
    .filter(([path, { mark }]) => !needed.has(path) && (mark === null || mark === found.get(path)))
    .map(([path]) => path)
    .filter((path) => found.has(path));
  const deletable = unneeded.filter(isDue);
  const paths = puts.map(({ path }) => path);
  const changed = paths.filter((path) => found.has(path));
  return {
    stages: stages.map((stage) => puts.filter((object) => stageOf(object) === stage)),
    new: paths.filter((path) => !found.has(path)),
    changed,
    unchanged: objects.filter(isUnchanged).map(({ path }) => path),
    deletable,
    waiting: unneeded.filter((path) => !isDue(path)),
    purge: [...changed, ...deletable].flatMap((path) =>
      path.endsWith("index.html") ? [path.slice(0, -"index.html".length), path] : [path],
    ),
    inventory,
  };
}
