/** How what is lacking is brought, with the fewest bytes: rebuilt from changes, rebuilt from the whole export, else file by file. */

import { join } from "node:path";
import type { Manifest } from "../release/manifest.js";
import type { Cache } from "./cache.js";
import { isForm } from "./cache.js";
import { BudgetSpent, createFetcher, type Fetcher } from "./fetch.js";
import type { Meter } from "./meter.js";
import type { Origin } from "./origin.js";
import { type Job, type MirrorPlan, planMirror, WHOLE } from "./plan.js";
import { canRebuild, rebuildFromChanges, rebuildFromWhole, stepsBetween } from "./rebuild.js";
import type { Run, Say } from "./run.js";

export interface Bringing {
  readonly run: Run;
  readonly origin: Origin;
  readonly cache: Cache;
  readonly meter: Meter;
  readonly say: Say;
  readonly manifest: Manifest;
  readonly local: Manifest | null;
  /** Contents at hand: hash -> path. What comes is added. */
  readonly hand: Map<string, string>;
  readonly recheck: () => Promise<void>;
}

const guesses = {
  rate: 20_000, // bytes a second of a line that nothing is known of
  build: 300_000, // bytes of plain files that are built and compressed a second
  worth: 16_000, // bytes: for fewer, nothing is built
} as const;

/** Brings all that is lacking; false when the budget is spent before. Throws FetchFault, SourceChanged. */
export async function bringAll(bringing: Bringing): Promise<boolean> {
  const { run, hand, say } = bringing;
  const fetcher = createFetcher({
    ...bringing,
    limits: run.limits,
    signal: run.signal,
    onRetry: (reason) => run.onLine(`  ${reason}: trying again`),
  });
  try {
    if (!(await bringByChanges(bringing, fetcher))) await bringByWhole(bringing, fetcher);
    const { jobs, bytes } = lacking(bringing);
    say.expect(bytes);
    if (bringing.meter.isBounded) await withinBudget(jobs, bringing, fetcher);
    else await together(jobs, bringing.origin.parallel, (job) => fetcher.file(job));
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
  }
  return (
    planMirror(
      bringing.manifest,
      (sha256) => hand.has(sha256),
      () => 0,
    ).jobs.length === 0
  );
}

function lacking({ manifest, hand, cache }: Bringing): MirrorPlan {
  return planMirror(manifest, (sha256) => hand.has(sha256), cache.partBytes);
}

/** The places of the local release and what changed since: the fewest bytes, where the release has its changes. */
async function bringByChanges(bringing: Bringing, fetcher: Fetcher): Promise<boolean> {
  const { run, manifest, local, hand, say } = bringing;
  const older = local?.files.find(({ path }) => path === WHOLE);
  const steps = local === null ? null : stepsBetween(local, manifest);
  const plan = lacking(bringing);
  const whole = plan.jobs.find(({ file }) => file.path === WHOLE);
  if (older === undefined || whole === undefined || steps === null) return false;
  const jobs = plan.jobs.filter(({ file }) => steps.includes(file.path));
  const bytes = sum(jobs);
  if (bytes >= whole.bytes || !isWorthwhile(bringing, plan.bytes - bytes)) return false;
  const path = join(run.site, WHOLE);
  if (!(await isForm(path, older))) return false;
  say.expect(bytes);
  for (const job of jobs) await fetcher.plain(job);
  say.progress("rebuilding");
  const files = steps.map((step) => hand.get(hashOf(manifest, step)) ?? "");
  if (!(await rebuildFromChanges({ ...bringing, site: run.site }, path, files))) return false;
  run.onLine(`Rebuilt from ${formatKilo(bytes)} of changes.`);
  return true;
}

/** The whole export, which is wanted in any case, and everything that can be made of it. */
async function bringByWhole(bringing: Bringing, fetcher: Fetcher): Promise<void> {
  const { run, meter, say } = bringing;
  const plan = lacking(bringing);
  const whole = plan.jobs.find(({ file }) => file.path === WHOLE);
  const bytes = whole?.bytes ?? 0;
  if (!isWorthwhile(bringing, plan.bytes - bytes) || bytes > meter.left()) return;
  say.expect(bytes);
  if (whole !== undefined) await fetcher.plain(whole);
  if (!isWorthwhile(bringing, plan.bytes - bytes)) return;
  say.progress("rebuilding");
  if (await rebuildFromWhole({ ...bringing, site: run.site }))
    run.onLine(`Rebuilt from ${formatKilo(bytes)}: ${WHOLE}.`);
}

/** Whether building here takes less time than fetching `bytes`, or their number matters. */
function isWorthwhile({ run, origin, meter, manifest, cache }: Bringing, bytes: number): boolean {
  const { rebuild = "auto" } = run;
  if (rebuild === "never" || !origin.isRemote || !canRebuild(manifest) || bytes < guesses.worth) return false;
  if (rebuild === "always" || meter.isBounded) return true;
  const rate = run.maxRate ?? meter.rate() ?? cache.state()?.rate ?? guesses.rate;
  const plain = manifest.files.reduce((total, file) => total + file.bytes, 0);
  return bytes / rate > plain / guesses.build;
}

/** The most useful first; what does not fit any more lets smaller ones pass, and takes what is left at the end. */
async function withinBudget(jobs: readonly Job[], { meter }: Bringing, fetcher: Fetcher): Promise<void> {
  const tooLarge: Job[] = [];
  for (const job of jobs) {
    if (job.bytes > meter.left()) tooLarge.push(job);
    else await fetcher.file(job);
  }
  for (const job of tooLarge) await fetcher.file(job);
}

/** A few at a time; the first failure ends all of them. */
async function together(
  jobs: readonly Job[],
  parallel: number,
  run: (job: Job) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    try {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) await run(job);
    } catch (error) {
      next = jobs.length;
      throw error;
    }
  };
  const workers = Array.from({ length: parallel }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

function hashOf(manifest: Manifest, path: string): string {
  return manifest.files.find((file) => file.path === path)?.sha256 ?? "";
}

function sum(jobs: readonly Job[]): number {
  return jobs.reduce((total, { bytes }) => total + bytes, 0);
}

function formatKilo(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
