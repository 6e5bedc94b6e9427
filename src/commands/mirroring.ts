/** What the commands that mirror share: options, progress, and how a round went. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { UserError } from "../errors.js";
import { formatSeconds, formatSize } from "../mirror.js";
import { ageOf, mirrorEvery } from "../mirrorevery.js";
import type { MirrorOptions, MirrorProgress, MirrorReport, RebuildMode } from "../mirrorrun.js";
import type { Reporter } from "../reporter.js";
import { formatCount } from "./command.js";

/** The flags that say how to mirror, of every command that does. */
export interface MirrorFlags {
  readonly force?: boolean;
  readonly publicKey?: string;
  readonly maxBytes?: number;
  readonly maxRate?: number;
  readonly rebuild?: RebuildMode;
  readonly every?: number;
}

/** The options of a command that mirrors. */
export function addMirrorOptions(command: Command): Command {
  return command
    .option("--public-key <file>", "the manifest must be signed by this key (PEM)")
    .option("--max-bytes <size>", "fetch no more than this in a run, the most useful first", parseSize)
    .option("--max-rate <size>", "fetch no more than this in a second", parseSize)
    .option("--every <time>", "go on for ever, at this interval: 90s, 30m, 6h, 1d", parseTime)
    .addOption(
      new Option("--rebuild <when>", "build files here from the whole export instead of fetching them")
        .choices(["auto", "always", "never"])
        .default("auto", "auto: when that is faster"),
    );
}

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

/** 200k, 5M as bytes. */
function parseSize(text: string): number {
  const match = /^(\d{1,9})([kmg]?)b?$/i.exec(text);
  const size = Number(match?.[1]) * 1000 ** ["", "k", "m", "g"].indexOf((match?.[2] ?? "").toLowerCase());
  if (match !== null && size > 0) return size;
  throw new InvalidArgumentError("A size is a positive integer, with k, M or G behind it if need be: 200k.");
}

/** 6h as seconds. */
function parseTime(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const seconds = Number(match?.[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[(match?.[2] ?? "s") as "s"];
  if (match !== null && seconds > 0 && seconds <= 14 * 86400) return seconds;
  throw new InvalidArgumentError("A time is an integer with s, m, h or d behind it, up to 14d: 6h.");
}
