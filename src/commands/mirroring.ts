/** What the commands that mirror share: progress, and how a round went. */

import { UserError } from "../errors.js";
import { ageOf, mirrorEvery } from "../mirror/every.js";
import { formatSeconds, formatSize } from "../mirror/mirror.js";
import type { MirrorOptions, MirrorProgress, MirrorReport } from "../mirror/run.js";
import { formatCount } from "./command.js";
import type { MirrorFlags } from "./mirrorflags.js";
import type { Reporter } from "./reporter.js";

/** Mirrors until the signal; says how each round went, and how old the copy is when it could not be renewed. */
export function keepFresh(
  options: MirrorOptions,
  every: number,
  isFirstNow: boolean,
  signal: AbortSignal,
  reporter: Reporter,
): Promise<void> {
  return mirrorEvery({
    ...options,
    every,
    isFirstNow,
    signal,
    onRound: (outcome) => {
      if (!(outcome instanceof UserError)) {
        reporter.line(describeReport(outcome));
        return reporter.result(outcome);
      }
      const age = ageOf(options.site, Date.now());
      reporter.line(`${outcome.message}${age === null ? "" : ` The copy goes on: ${age}.`}`);
    },
  });
}

/** The library's options, from the flags. */
export function mirrorOptions(
  source: string,
  site: string,
  { publicKey, maxBytes, maxRate, rebuild }: MirrorFlags,
  reporter: Reporter,
): MirrorOptions {
  return {
    source,
    site,
    ...(rebuild !== undefined && { rebuild }),
    ...(publicKey !== undefined && { publicKey }),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxRate !== undefined && { maxRate }),
    onLine: (text) => reporter.line(text),
    onProgress: (progress) => reporter.step(describeProgress(progress)),
  };
}

const stages = {
  checking: "Asking the source",
  fetching: "Fetching",
  rebuilding: "Rebuilding",
  swap: "Checking every byte, putting the copy in place",
} as const;

function describeProgress({ stage, bytes, of, rate }: MirrorProgress): string {
  if (stage !== "fetching" || of === 0) return stages[stage];
  const speed = rate === null ? "" : `, ${formatSize(rate)}/s`;
  const left = rate === null ? "" : `, ${formatSeconds(Math.max(0, of - bytes) / rate)} left`;
  return `${stages[stage]}: ${formatSize(bytes)} of ${formatSize(Math.max(of, bytes))}${speed}${left}`;
}

/** A round in one line. */
export function describeReport({
  site,
  outcome,
  generation,
  date,
  changed,
  fetchedBytes,
  missing,
}: MirrorReport): string {
  const what = `generation ${generation}, data of ${date}`;
  if (outcome === "unchanged") return `${site} is what the source has: ${what}.`;
  if (outcome === "mirrored")
    return `Mirrored into ${site}: ${formatCount(changed)} files changed, ${formatSize(fetchedBytes)} fetched, ${what}.`;
  return `The budget is spent: ${formatSize(fetchedBytes)} fetched, ${formatCount(missing)} files are still to come. Run the command again to go on.`;
}
