/** Files of a release into the cache: resumed where they broke off, checked by their hash, unpacked and packed here where that saves bytes. */

import { renameSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Coding } from "../bytes/compress.js";
import { type Cache, hashFile } from "./cache.js";
import { pack, unpack } from "./forms.js";
import type { Meter } from "./meter.js";
import { FetchFault, type FetchLimits, type OpenedFile, type Origin, patiently } from "./origin.js";
import type { Form, Job } from "./plan.js";

/** The run's budget of bytes is used up. */
export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

export interface FetcherOptions {
  readonly origin: Origin;
  readonly cache: Cache;
  /** Contents that are at hand: hash -> path. What is fetched is added. */
  readonly hand: Map<string, string>;
  readonly meter: Meter;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
  readonly onRetry: (reason: string) => void;
  /** Called when a file is not what the manifest says; throws when the manifest is no longer the one of the origin. */
  readonly recheck: () => Promise<void>;
}

const UNLIKE_AFTER = 20; // files: this machine's zlib writes a coding otherwise
const USELESS_AFTER = 3; // files without a coding: the host has none

export interface Fetcher {
  /** Brings every form of a file that is lacking. */
  file(job: Job): Promise<void>;
  /** Brings the plain form only. */
  plain(job: Job): Promise<void>;
}

export function createFetcher(options: FetcherOptions): Fetcher {
  const { cache, hand } = options;
  const underWay = new Map<string, Promise<void>>();
  const useless = new Map<Coding, number>(); // failures of a coding that the host never sent well
  const unlike = new Map<Coding, number>(); // files that were packed otherwise here, where none was packed alike

  /** Two names may have the same content: it is fetched once. */
  const blob = async (form: Form): Promise<void> => {
    if (hand.has(form.sha256)) return;
    const running = underWay.get(form.sha256) ?? fetchBlob(form, options);
    underWay.set(form.sha256, running);
    try {
      await running;
      hand.set(form.sha256, cache.path(form.sha256));
    } finally {
      underWay.delete(form.sha256);
    }
  };

  const plain = async ({ file, ways }: Job): Promise<void> => {
    let fault: unknown = null;
    for (const way of ways) {
      if (hand.has(file.sha256)) return;
      if (way.coding !== null && (useless.get(way.coding) ?? 0) >= USELESS_AFTER) continue;
      try {
        await blob(way);
        if (way.coding !== null) {
          await unpack(way, way.coding, file, options);
          useless.set(way.coding, Number.NEGATIVE_INFINITY);
        }
        return;
      } catch (error) {
        // A host may lack a form, or send another coding than it says: the next form may do.
        if (!(error instanceof FetchFault) || !["missing", "corrupt"].includes(error.kind)) throw error;
        fault = error;
        if (way.coding !== null) useless.set(way.coding, (useless.get(way.coding) ?? 0) + 1);
      }
    }
    if (fault !== null) throw fault;
  };

  const whole = async (job: Job): Promise<void> => {
    await plain(job);
    const lacking = job.lacking.filter(({ sha256 }) => !hand.has(sha256));
    const isTried = (coding: Coding): boolean => (unlike.get(coding) ?? 0) < UNLIKE_AFTER;
    const here = lacking.filter(({ coding }) => coding !== null && isTried(coding));
    if (here.length > 0) await pack(job.file, here, options);
    for (const { coding, sha256 } of here) {
      if (coding === null) continue;
      unlike.set(coding, hand.has(sha256) ? Number.NEGATIVE_INFINITY : (unlike.get(coding) ?? 0) + 1);
    }
    for (const form of lacking) await blob(form);
  };

  const byContent = oneByOne();
  return {
    plain: (job) => byContent(job.file.sha256, () => plain(job)),
    file: (job) => byContent(job.file.sha256, () => whole(job)),
  };
}

/** Tasks of the same name run one after the other: files with the same content share names in the cache. */
function oneByOne() {
  const last = new Map<string, Promise<void>>();
  return (name: string, task: () => Promise<void>): Promise<void> => {
    const run = (last.get(name) ?? Promise.resolve()).then(task);
    last.set(name, run);
    return run;
  };
}

async function fetchBlob(form: Form, options: FetcherOptions): Promise<void> {
  const { cache, limits, recheck, onRetry, signal } = options;
  for (let tries = 1; ; tries++) {
    try {
      // Only what never came before is progress: a host without ranges begins anew each time, perhaps for ever.
      let furthest = cache.partBytes(form.sha256);
      const reach = (size: number, move: (bytes: number) => void): void => {
        if (size <= furthest) return;
        move(size - furthest);
        furthest = size;
      };
      return await patiently(
        (move) => attempt(form, tries > 1, (size) => reach(size, move), options),
        limits,
        onRetry,
        signal,
      );
    } catch (error) {
      if (!(error instanceof FetchFault) || !["missing", "corrupt"].includes(error.kind)) throw error;
      cache.dropPart(form.sha256);
      await recheck();
      if (error.kind === "missing" || tries >= limits.corruptTries) throw error;
      onRetry(error.message);
    }
  }
}

/** One request for what is still lacking of a content. */
async function attempt(
  form: Form,
  isFresh: boolean,
  onReached: (size: number) => void,
  { origin, cache, meter }: FetcherOptions,
): Promise<void> {
  const { sha256, path } = form;
  if (cache.partBytes(sha256) > form.bytes) cache.dropPart(sha256);
  const start = cache.partBytes(sha256);
  const rest = form.bytes - start;
  if (rest > 0) {
    await meter.request();
    const bytes = Math.min(rest, meter.left());
    if (bytes <= 0) throw new BudgetSpent();
    const wanted = {
      start,
      bytes,
      isPart: bytes < rest,
      etag: start > 0 ? cache.etag(sha256) : null,
      isFresh,
    };
    const opened = await named(path, () => origin.open(path, wanted));
    refuseOtherSize(form, start + bytes, bytes < rest, opened);
    cache.keepEtag(sha256, opened.etag);
    const reached = await named(path, () => append(form, opened, start + bytes, onReached, { cache, meter }));
    if (reached < form.bytes && reached === start + bytes) throw new BudgetSpent();
    if (reached < form.bytes)
      throw new FetchFault(origin.isRemote ? "passing" : "corrupt", `${path}: it ends early`);
  } else if (form.bytes === 0) {
    await (await open(cache.part(sha256), "w")).close();
  }
  if ((await hashFile(cache.part(sha256))) !== sha256)
    throw new FetchFault("corrupt", `${path}: its bytes differ from the manifest`);
  renameSync(cache.part(sha256), cache.path(sha256));
  cache.keepEtag(sha256, null);
}

/** A host that has another file, or unpacks it on the way, says so before it sends it. */
function refuseOtherSize(form: Form, end: number, isPart: boolean, opened: OpenedFile): void {
  if (opened.announced === null) return;
  const announcedEnd = opened.start + opened.announced;
  if (announcedEnd >= end && (isPart || announcedEnd <= form.bytes)) return;
  throw new FetchFault("missing", `${form.path}: it is of ${announcedEnd} bytes instead of ${form.bytes}`);
}

/** Puts chunks behind what is there, `end` bytes at most; gives the size that was reached. */
async function append(
  form: Form,
  opened: { readonly start: number; readonly chunks: AsyncIterable<Uint8Array> },
  end: number,
  onReached: (size: number) => void,
  { cache, meter }: { readonly cache: Cache; readonly meter: Meter },
): Promise<number> {
  const file = await open(cache.part(form.sha256), opened.start === 0 ? "w" : "a");
  let size = opened.start;
  try {
    for await (const chunk of opened.chunks) {
      await file.writeFile(chunk.subarray(0, end - size));
      size += chunk.length;
      onReached(size);
      await meter.spend(chunk.length);
      if (size > form.bytes) throw new FetchFault("corrupt", "it is longer than the manifest says");
      if (size >= end) return Math.min(size, end);
    }
  } finally {
    await file.close();
  }
  return size;
}

/** Faults say which file they are of. */
async function named<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof FetchFault)) throw error;
    throw new FetchFault(error.kind, `${path}: ${error.message}`, error.retryAfter, { cause: error });
  }
}
