/**
 * A release onto a target, so that a reader never finds a manifest that names what is not there: content first, the
 * manifest last, removals after it. Killed at any moment, it goes on where it was when it is run again.
 */

import { type InventoryEntry, writeInventory } from "./inventory.js";
import { type PublishPlan, settingsOf } from "./plan.js";
import type { PublishObject, Target } from "./targets/target.js";

export interface PublishOptions {
  /** Now, in milliseconds since 1970. */
  readonly now: number;
  /** Objects put, and how many there are to put. */
  readonly onProgress: (done: number, of: number) => void;
}

const limits = {
  atOnce: 8, // objects under way
  note: 1_000, // ms between notes of what was put: after a kill, so much is put again
} as const;

/** Does what the plan says. One at a time for a target. Throws UserError `system` or `damaged`; run it again then. */
export async function publish(
  target: Target,
  plan: PublishPlan,
  { now, onProgress }: PublishOptions,
): Promise<void> {
  const { inventory, stages } = plan;
  const puts = stages.flat();
  const isWork = puts.length + plan.deletable.length > 0 || hasNewlyUnneeded(plan);
  if (!isWork) return;
  // Noted before it is put: what a killed run leaves is known to be ours.
  for (const object of puts) inventory.set(object.path, entryOf(object, null));
  await writeInventory(target, inventory);
  await putStages(target, plan, onProgress);
  const since = new Date(now).toISOString();
  for (const path of plan.waiting) {
    const entry = inventory.get(path);
    if (entry !== undefined && entry.unneededSince === null)
      inventory.set(path, { ...entry, unneededSince: since });
  }
  await inParallel(plan.deletable, async (path) => {
    await target.remove(path);
    inventory.delete(path);
  });
  forgetForeign(plan);
  await writeInventory(target, inventory);
}

async function putStages(
  target: Target,
  { stages, inventory }: PublishPlan,
  onProgress: PublishOptions["onProgress"],
): Promise<void> {
  const of = stages.flat().length;
  let done = 0;
  let noted = performance.now();
  const put = async (object: PublishObject): Promise<void> => {
    inventory.set(object.path, entryOf(object, await target.put(object)));
    onProgress(++done, of);
    if (performance.now() - noted < limits.note) return;
    noted = performance.now();
    await writeInventory(target, inventory);
  };
  try {
    for (const stage of stages) await inParallel(stage, put);
  } catch (error) {
    await writeInventory(target, inventory).catch(() => {}); // the next run goes on here; why this one ended matters more
    throw error;
  }
}

function entryOf(object: PublishObject, mark: string | null): InventoryEntry {
  return { sha256: object.sha256, settings: settingsOf(object), mark, unneededSince: null };
}

function hasNewlyUnneeded({ waiting, inventory }: PublishPlan): boolean {
  return waiting.some((path) => inventory.get(path)?.unneededSince === null);
}

/** What is neither needed nor ours any more, because it is gone or somebody wrote over it. */
function forgetForeign({ inventory, new: added, changed, unchanged, waiting }: PublishPlan): void {
  const kept = new Set([...added, ...changed, ...unchanged, ...waiting]);
  for (const path of inventory.keys()) if (!kept.has(path)) inventory.delete(path);
}

/** Runs jobs, some at a time; the first fault stops the rest and is thrown once those under way have ended. */
async function inParallel<Job>(jobs: readonly Job[], run: (job: Job) => Promise<void>): Promise<void> {
  let next = 0;
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let job = jobs[next++]; job !== undefined && !isStopped; job = jobs[next++]) {
      try {
        await run(job);
      } catch (error) {
        isStopped = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: limits.atOnce }, work));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
