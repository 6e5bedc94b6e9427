/** A mirror that is kept fresh for ever: at jittered intervals, and whatever one round says. */

import { explain, systemCode, UserError } from "../errors.js";
import { readManifest } from "../release/manifest.js";
import { formatSeconds, mirror } from "./mirror.js";
import { pauseFor } from "./origin.js";
import type { MirrorOptions } from "./run.js";

const JITTER = 0.1; // of the interval, either way: mirrors started together do not ask together

export interface EveryOptions extends MirrorOptions {
  /** Seconds between rounds. */
  readonly every: number;
  readonly signal: AbortSignal;
  /** Whether the first round is now, or an interval from now. */
  readonly isFirstNow: boolean;
  /** After each round; a failed one gives its error. */
  readonly onRound: (outcome: Awaited<ReturnType<typeof mirror>> | UserError) => void;
}

/** Mirrors until the signal. A round that fails is told and followed by the next one; a bug of the program is thrown. */
export async function mirrorEvery(options: EveryOptions): Promise<void> {
  const { every, signal, isFirstNow } = options;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (!isFirst || !isFirstNow)
        await pauseFor(every * 1000 * (1 - JITTER + 2 * JITTER * Math.random()), signal);
      options.onRound(await mirror(options));
    } catch (error) {
      if (signal.aborted) return;
      options.onRound(passing(error));
    }
  }
}

/** What a later round may do better: what the caller can mend, and whatever the system says. Anything else is thrown. */
function passing(error: unknown): UserError {
  const explained = explain(error);
  if (explained instanceof UserError) return explained;
  if (!(error instanceof Error) || systemCode(error) === null) throw error;
  return new UserError("system", error.message, [], { cause: error });
}

/** "data of 2026-11-20T00:00:00Z, 1 h 5 min old"; null without a release. */
export function ageOf(site: string, now: number): string | null {
  try {
    const { date } = readManifest(site).manifest;
    return `data of ${date}, ${formatSeconds(Math.max(0, now - Date.parse(date)) / 1000)} old`;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}
