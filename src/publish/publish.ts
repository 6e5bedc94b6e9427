/**
 * A release onto a target, so that a reader never finds a manifest that names what is not there: content first, the
 * manifest last, removals after it. Killed at any moment, it goes on where it was when it is run again.
 */

import { UserError } from "../errors.js";
import { type InventoryEntry, writeInventory } from "./inventory.js";
import { MANIFEST_STAGES } from "./offered.js";
import { isWork, type PlanOptions, type PublishPlan, planPublish, settingsOf } from "./plan.js";
import type { Lock, PublishObject, Target } from "./targets/target.js";

export interface PublishOptions extends PlanOptions {
  /** Objects put, and how many there are to put. */
  readonly onProgress: (done: number, of: number) => void;
}

const limits = {
  atOnce: 8, // objects under way
  note: 1_000, // ms between notes of what was put: after a kill, so much is put again
} as const;

/**
 * Plans and does it; gives the plan that was done. Where there is nothing to do, nothing is written. Throws UserError, also
 * those of `planPublish`: `busy` (another publish is at work), `system`, `damaged`; run it again then.
 */
export async function publish(options: PublishOptions): Promise<PublishPlan> {
  const { target } = options;
  const plan = await planPublish(options);
  if (!isWork(plan)) return plan;
  const lock = await target.lock();
  try {
    const certain = await planPublish(options); // another one may have ended just before
    if (isWork(certain)) await carryOut(certain, lock, options);
    return certain;
  } finally {
    await lock.release().catch(() => {}); // it is taken over some seconds later; what was done, or went wrong, matters more
  }
}

async function carryOut(plan: PublishPlan, lock: Lock, options: PublishOptions): Promise<void> {
  const { target, now } = options;
  const { inventory } = plan;
  const puts = plan.stages.flat();
  await target.tidy((path) => inventory.has(path));
  // Noted before it is put: what a killed run leaves is known to be ours.
  for (const object of puts) inventory.set(object.path, entryOf(object, null));
  await writeInventory(target, inventory);
  await putStages(plan, lock, options);
  const since = new Date(now).toISOString();
  for (const path of plan.waiting) {
    const entry = inventory.get(path);
    if (entry !== undefined && entry.unneededSince === null)
      inventory.set(path, { ...entry, unneededSince: since });
  }
  await lock.check();
  await inParallel(plan.deletable, async (path) => {
    await target.remove(path);
    inventory.delete(path);
  });
  forgetForeign(plan);
  await writeInventory(target, inventory);
}

async function putStages(
  plan: PublishPlan,
  lock: Lock,
  { target, onProgress }: PublishOptions,
): Promise<void> {
  const { stages, inventory } = plan;
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
    const [content, manifest] = [stages.slice(0, MANIFEST_STAGES), stages.slice(MANIFEST_STAGES)];
    for (const stage of content) await inParallel(stage, put);
    if (manifest.flat().length > 0) await makeSure(plan, target, lock);
    for (const stage of manifest) await inParallel(stage, put);
  } catch (error) {
    // The next run goes on here; why this one ended matters more. Where another one is at work, it keeps its own list.
    const isOurs = !(error instanceof UserError && error.code === "busy");
    if (isOurs) await writeInventory(target, inventory).catch(() => {});
    throw error;
  }
}

/** Nobody has taken over or written over anything: what the manifest names is there, as it was put. Throws UserError `busy`. */
async function makeSure(plan: PublishPlan, target: Target, lock: Lock): Promise<void> {
  const content = plan.stages.slice(0, MANIFEST_STAGES).flat();
  const paths = [...plan.unchanged, ...content.map(({ path }) => path)];
  const found = await target.list();
  const others = paths.filter((path) => plan.inventory.get(path)?.mark !== found.get(path));
  await lock.check();
  if (others.length === 0) return;
  const summary = `Somebody else wrote to ${target.title} meanwhile, so the manifest was not put. Run it again.`;
  throw new UserError("busy", summary, others.slice(0, 20));
}

function entryOf(object: PublishObject, mark: string | null): InventoryEntry {
  return { sha256: object.sha256, settings: settingsOf(object), mark, unneededSince: null };
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
