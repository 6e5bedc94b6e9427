/** Counts the bytes of a mirror run, holds them to a rate and a budget, and knows how fast they come. */

import { pauseFor } from "./origin.js";

/** Bytes of a request and the head of its answer, about. */
const REQUEST_BYTES = 800;

export interface MeterOptions {
  /** Bytes of the run at most, heads of requests included; null = any number. */
  readonly maxBytes: number | null;
  /** Bytes a second at most, on average; null = as fast as they come. */
  readonly maxRate: number | null;
  readonly signal: AbortSignal;
  readonly onBytes: () => void;
}

export type Meter = ReturnType<typeof createMeter>;

/** Begins to count now. */
export function createMeter({ maxBytes, maxRate, signal, onBytes }: MeterOptions) {
  const started = performance.now();
  let bytes = 0;
  const seconds = (): number => (performance.now() - started) / 1000;
  const spend = async (more: number): Promise<void> => {
    bytes += more;
    onBytes();
    if (maxRate === null) return;
    const early = bytes / maxRate - seconds();
    if (early > 0) await pauseFor(early * 1000, signal);
  };
  return {
    bytes: () => bytes,
    /** What the budget still allows for a body. */
    left: () => (maxBytes === null ? Number.POSITIVE_INFINITY : Math.max(0, maxBytes - bytes)),
    isBounded: maxBytes !== null,
    request: () => spend(REQUEST_BYTES),
    spend,
    /** Bytes a second since the beginning; null while too little has come to say. */
    rate: () => (bytes > 4096 && seconds() > 0.2 ? bytes / seconds() : null),
  };
}
