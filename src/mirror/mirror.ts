/** A copy of a release, from the web or a folder: only what differs is fetched, every byte is checked, and it appears whole. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { codingNames } from "../bytes/compress.js";
import { UserError } from "../errors.js";
import { MANIFEST, manifestForms } from "../release/manifest.js";
import { besideRelease, lockBeside, settle } from "../release/swap.js";
import { applyRelease } from "./apply.js";
import { bringAll } from "./bring.js";
import { openCache } from "./cache.js";
import { openFolder } from "./folder.js";
import { openWeb } from "./http.js";
import { createMeter, type Meter } from "./meter.js";
import { askOffer } from "./offer.js";
import { FetchFault, fetchDefaults, type Origin, patiently, type Validator } from "./origin.js";
import { type MirrorPlan, planMirror } from "./plan.js";
import { type MirrorOptions, type MirrorReport, type Run, type Say, SourceChanged } from "./run.js";
import { SIGNATURE } from "./sign.js";
import { keepPart, readLocal, refuseFullDisk, takeInventory } from "./stock.js";

/**
 * Makes `site` a copy of the source. Throws UserError: `source` (cannot be read, or is damaged), `refused` (older, or
 * wrongly signed), `busy`, `system`; the local release stays then, and what has come is kept for the next run.
 */
export async function mirror(options: MirrorOptions): Promise<MirrorReport> {
  const { site, signal } = options;
  const stop = new AbortController();
  const run: Run = {
    ...options,
    limits: { ...fetchDefaults, ...options.limits },
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
  };
  const origin = openOrigin(run);
  const unlock = lockBeside(site, "mirroring");
  try {
    settle(site);
    return await rounds(run, origin);
  } catch (error) {
    throw error instanceof FetchFault ? explainFault(error, run) : error;
  } finally {
    stop.abort(new Error("the run is over"));
    await origin.close();
    unlock();
  }
}

function openOrigin({ source, site, limits, signal }: Run): Origin {
  if (/^https?:\/\//i.test(source) && URL.canParse(source)) return openWeb(source, limits, signal);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source))
    throw new UserError("usage", `${source} is neither an http or https address nor a folder.`);
  if (!existsSync(join(source, MANIFEST)))
    throw new UserError("source", `There is no release in ${source} (no ${MANIFEST}).`);
  if (resolve(source) === resolve(site))
    throw new UserError("usage", `${source} is the release itself. Name another folder with --site.`);
  return openFolder(source);
}

/** A release that is exchanged meanwhile is begun anew; what has come of it counts. */
async function rounds(run: Run, origin: Origin): Promise<MirrorReport> {
  const { maxBytes = null, maxRate = null, signal, limits } = run;
  let of = 0;
  const say: Say = {
    progress: (stage) => run.onProgress({ stage, bytes: meter.bytes(), of, rate: meter.rate() }),
    expect: (bytes) => {
      of = meter.bytes() + bytes;
    },
  };
  const onBytes = (): void => say.progress("fetching");
  const meter = createMeter({ maxBytes, maxRate, signal, onBytes });
  for (let round = 1; round <= limits.rounds; round++) {
    try {
      return await oneRound(run, origin, meter, say, round > 1);
    } catch (error) {
      if (!(error instanceof SourceChanged)) throw error;
      run.onLine("The source went over to another release: beginning again from its new manifest.");
    }
  }
  throw new FetchFault("final", "it is exchanged faster than it can be fetched");
}

async function oneRound(
  run: Run,
  origin: Origin,
  meter: Meter,
  say: Say,
  isFresh: boolean,
): Promise<MirrorReport> {
  const { site, source } = run;
  const cache = openCache(besideRelease(site, "fetching"));
  const local = readLocal(site);
  say.progress("checking");
  const { manifest, bytes, signature } = await askOffer(
    run,
    origin,
    cache,
    meter,
    local?.manifest.date ?? null,
    isFresh,
  );
  const hand = await takeInventory(site, local?.manifest ?? null, manifest, cache);
  const plan = planMirror(manifest, (sha256) => hand.has(sha256), cache.partBytes);
  const report = (outcome: MirrorReport["outcome"], missing = 0): MirrorReport => ({
    site,
    source,
    outcome,
    generation: manifest.generation,
    date: manifest.date,
    changed: plan.jobs.length,
    files: manifest.files.length,
    fetchedBytes: meter.bytes(),
    missing,
  });
  if (local?.bytes.equals(bytes) === true && plan.jobs.length === 0 && isSound(site, bytes, signature)) {
    await cache.sweep(new Set());
    return report("unchanged");
  }

  if (plan.jobs.length > 0) run.onLine(describePlan(plan, run.maxRate ?? cache.state()?.rate ?? null));
  refuseFullDisk(plan, site);
  const recheck = rechecker(run, origin, bytes, cache.state()?.validator ?? null);
  const older = local?.manifest ?? null;
  const isWhole = await bringAll({ run, origin, cache, meter, say, manifest, local: older, hand, recheck });
  say.progress("swap");
  if (!isWhole) return report("unfinished", await keepPart(site, manifest, older, hand));
  await applyRelease(site, { manifest, bytes, signature, hand });
  await cache.sweep(new Set());
  return report("mirrored");
}

/** Whether what stands beside the manifest, and not in it, is of it: its compressed forms and its signature. */
function isSound(site: string, bytes: Buffer, signature: Buffer | null): boolean {
  const path = join(site, SIGNATURE);
  const local = existsSync(path) ? readFileSync(path) : null;
  const isSigned = signature === null || local?.equals(signature) === true;
  return isSigned && manifestForms(site, bytes).length === codingNames.length;
}

const RECHECK_AFTER = 1000; // ms: many files that fail at once are one question

/** Throws SourceChanged when the origin has another manifest by now. */
function rechecker(
  run: Run,
  origin: Origin,
  bytes: Buffer,
  validator: Validator | null,
): () => Promise<void> {
  const known = validator?.etag == null ? null : validator; // two manifests may be of one second
  let last = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - last < RECHECK_AFTER) return;
    const ask = (move: (bytes: number) => void) => origin.manifest(known, true, move);
    const now = await patiently(ask, run.limits, () => {}, run.signal);
    if (now !== null && !now.bytes.equals(bytes)) throw new SourceChanged();
    last = performance.now();
  };
}

/** "37 files, 412 kB of 6.1 MB, about 2 min at 3.0 kB/s". */
export function describePlan(plan: MirrorPlan, rate: number | null): string {
  const size = `${formatSize(plan.bytes)} of ${formatSize(plan.releaseBytes)}`;
  const time = rate === null ? "" : `, about ${formatSeconds(plan.bytes / rate)} at ${formatSize(rate)}/s`;
  return `To fetch: ${plan.jobs.length} ${plan.jobs.length === 1 ? "file" : "files"}, ${size}${time}.`;
}

/** 1234567 as "1.2 MB", 1234 as "1.2 kB". */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  return bytes < 999_950 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** 7500 as "2 h 5 min". */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

function explainFault(fault: FetchFault, { source, site }: Run): UserError {
  return new UserError(
    "source",
    `${source} cannot be mirrored: ${fault.message}. What has come is kept for the next run; ${site} stays as it is.`,
    [],
    { cause: fault },
  );
}
