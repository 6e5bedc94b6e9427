/** The words of a mirror run: what is asked of it, what it says meanwhile, what it reports. */

import type { FetchLimits } from "./mirrororigin.js";

export interface MirrorOptions {
  /** Address of a release, or a folder that holds one. */
  readonly source: string;
  readonly site: string;
  /** Take a release that is older than the local one. */
  readonly force?: boolean;
  /** PEM file of the key that the manifest must be signed with. */
  readonly publicKey?: string;
  /** Bytes of this run at most. */
  readonly maxBytes?: number;
  /** Bytes a second at most. */
  readonly maxRate?: number;
  /** Whether to build files here instead of fetching them; default `auto`: when that takes less time. */
  readonly rebuild?: RebuildMode;
  readonly limits?: Partial<FetchLimits>;
  readonly signal?: AbortSignal;
  readonly onLine: (text: string) => void;
  readonly onProgress: (progress: MirrorProgress) => void;
}

export type RebuildMode = "auto" | "always" | "never";

export interface MirrorProgress {
  /** What is going on. */
  readonly stage: "checking" | "fetching" | "rebuilding" | "swap";
  readonly bytes: number;
  /** Of this run, as far as is known. */
  readonly of: number;
  /** Bytes a second, when known. */
  readonly rate: number | null;
}

/** Options with every default settled. */
export type Run = MirrorOptions & { readonly limits: FetchLimits; readonly signal: AbortSignal };

/** What a run says of itself while it goes on. */
export interface Say {
  readonly progress: (stage: MirrorProgress["stage"]) => void;
  /** Bytes that are still to come. */
  readonly expect: (bytes: number) => void;
}

/** The origin went over to another release during the run. */
export class SourceChanged extends Error {
  override readonly name = "SourceChanged";
}

export interface MirrorReport {
  readonly site: string;
  readonly source: string;
  /** `unfinished`: the budget is spent; what has come is kept for the next run. */
  readonly outcome: "unchanged" | "mirrored" | "unfinished";
  readonly generation: string;
  readonly date: string;
  /** Files that changed, and all of them. */
  readonly changed: number;
  readonly files: number;
  /** Bodies and, about, heads of answers. */
  readonly fetchedBytes: number;
  /** Files still to come. */
  readonly missing: number;
}
