/** Where a mirror reads from: what every origin promises, faults by what helps against them, and the patience to try again. */

import pRetry from "p-retry";
import { systemCode } from "../errors.js";

/** What tells later whether the manifest is still the same. */
export interface Validator {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface OfferedManifest {
  readonly bytes: Buffer;
  readonly validator: Validator;
}

/** What of a file is wanted. */
export interface Wanted {
  /** First byte. */
  readonly start: number;
  /** Bytes at most. */
  readonly bytes: number;
  /** Whether the file may have more bytes that are not wanted. */
  readonly isPart: boolean;
  /** Strong ETag of the bytes before `start`; null when none is known. */
  readonly etag: string | null;
  /** Whether caches on the way are passed by. */
  readonly isFresh: boolean;
}

export interface OpenedFile {
  /** Where the chunks begin: `start`, or 0 when the origin sends the file from its beginning. */
  readonly start: number;
  /** Bytes that are announced to come; null when the origin does not say. */
  readonly announced: number | null;
  readonly etag: string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A release to copy: on the web, or in a folder. What fails throws a FetchFault. */
export interface Origin {
  /** For messages. */
  readonly name: string;
  /** Files to read at the same time. */
  readonly parallel: number;
  /** Whether bytes from here cost time and money, so that computing them is worth while. */
  readonly isRemote: boolean;
  /** The manifest; null when it is what `known` describes. With `isFresh` caches on the way are passed by. */
  manifest(
    known: Validator | null,
    isFresh: boolean,
    onBytes: (bytes: number) => void,
  ): Promise<OfferedManifest | null>;
  /** A small file beside the manifest, or null. */
  small(name: string): Promise<Buffer | null>;
  open(path: string, wanted: Wanted): Promise<OpenedFile>;
  close(): Promise<void>;
}

/** `passing`: asking again may help. `missing`: it is not there. `final`: nothing helps. `corrupt`: other bytes than promised. */
export type FaultKind = "passing" | "missing" | "final" | "corrupt";

export class FetchFault extends Error {
  override readonly name = "FetchFault";
  readonly kind: FaultKind;
  /** Milliseconds that the origin asks to wait. */
  readonly retryAfter: number | null;
  constructor(kind: FaultKind, message: string, retryAfter: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

export interface FetchLimits {
  readonly stall: number;
  readonly requestBase: number;
  readonly slowest: number;
  readonly retries: number;
  readonly pause: number;
  readonly longestPause: number;
  readonly longestAsked: number;
  readonly corruptTries: number;
  readonly rounds: number;
  readonly manifestBytes: number;
  readonly redirects: number;
}

export const fetchDefaults: FetchLimits = {
  stall: 30_000, // ms without a byte, or until a connection stands
  requestBase: 60_000, // ms for any request, and on top of it
  slowest: 200, // bytes a second: a request that is slower is cut and resumed
  retries: 8, // attempts in a row that bring nothing
  pause: 500, // ms before the second attempt; doubled for each further one, and jittered
  longestPause: 30_000, // ms between attempts
  longestAsked: 300_000, // ms that an origin may ask to wait
  corruptTries: 4, // times that the bytes of one file may differ from its hash
  rounds: 5, // times that the release may be exchanged during one run
  manifestBytes: 64e6, // a longer manifest is none
  redirects: 5, // one after the other
};

const MOVED = 1024; // bytes that count as progress

/**
 * Tries until `attempt` succeeds. Passing faults are tried again with growing, jittered pauses, a bounded number of times
 * in a row; an attempt that moved something begins the count anew, so a line that breaks every 50 kB still gets there.
 */
export async function patiently<Result>(
  attempt: (move: (bytes: number) => void) => Promise<Result>,
  limits: FetchLimits,
  onRetry: (reason: string) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    const outcome = await pRetry(() => oneAttempt(attempt), {
      retries: limits.retries,
      minTimeout: limits.pause,
      maxTimeout: limits.longestPause,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof FetchFault && error.kind === "passing",
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!(error instanceof FetchFault) || error.kind !== "passing" || retriesLeft === 0) return;
        onRetry(error.message);
        await waitAsAsked(error, limits, signal);
      },
    });
    if ("result" in outcome) return outcome.result;
    onRetry(outcome.moved.message);
    await waitAsAsked(outcome.moved, limits, signal);
    await pauseFor(limits.pause * (0.5 + Math.random() / 2), signal);
  }
}

/** A fault after progress is an outcome, not a failure. */
async function oneAttempt<Result>(
  attempt: (move: (bytes: number) => void) => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly moved: FetchFault }> {
  let moved = 0;
  try {
    const result = await attempt((bytes) => {
      moved += bytes;
    });
    return { result };
  } catch (error) {
    if (error instanceof FetchFault && error.kind === "passing" && moved >= MOVED) return { moved: error };
    throw error;
  }
}

async function waitAsAsked(fault: FetchFault, limits: FetchLimits, signal: AbortSignal): Promise<void> {
  if (fault.retryAfter === null) return;
  if (fault.retryAfter > limits.longestAsked)
    throw new FetchFault(
      "final",
      `${fault.message}, and asks to wait ${Math.ceil(fault.retryAfter / 1000)} s`,
    );
  await pauseFor(fault.retryAfter, signal);
}

/** Waits; an aborted signal ends it with the signal's reason. */
export function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** What went wrong on the way, in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it took too long";
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = systemCode(cause);
  return code === null || cause.message.includes(code) ? cause.message : `${cause.message} (${code})`;
}
