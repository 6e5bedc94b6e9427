/** The options of every command that mirrors. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { RebuildMode } from "../mirror/run.js";

/** A copy never takes the place of what was built here by mere default. */
export const MIRRORED_SITE = "dist/mirror";

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
