/**
 * `stages.js SOURCE DATABASE SITE [--no-brotli] [--no-tiles]`: pulls and builds in this process and prints, as one line of JSON, how long
 * each stage took and how much memory the process held at its peak.
 */

import { writeFileSync } from "node:fs";
import { type BuildStage, build } from "../src/build/build.js";
import { pull } from "../src/pull/pull.js";
import { memoryOf } from "./processes.js";

export interface StageResult {
  readonly stage: string;
  readonly seconds: number;
  /** Resident memory at its highest, MiB. */
  readonly peak: number;
}

const results: StageResult[] = [];
let current: { readonly stage: string; readonly since: number } | null = null;

function enter(stage: string | null): void {
  if (current?.stage === stage) return;
  const now = performance.now();
  if (current !== null)
    results.push({
      stage: current.stage,
      seconds: (now - current.since) / 1000,
      peak: memoryOf("self", "VmHWM"),
    });
  current = stage === null ? null : { stage, since: now };
  try {
    writeFileSync("/proc/self/clear_refs", "5"); // Linux: the peak is counted anew
  } catch {
    // Elsewhere a peak is the highest so far.
  }
}

const [from = "", database = "", site = "", ...without] = process.argv.slice(2);
enter("pull");
await pull({ from, database, force: true, about: {}, onProgress: () => {} });
enter("exports");
const report = await build({
  database,
  site,
  brotli: !without.includes("--no-brotli"),
  ...(without.includes("--no-tiles") && { map: { maxZoom: null } }),
  onProgress: (stage: BuildStage) => enter(stage),
});
enter(null);
process.stdout.write(`${JSON.stringify({ results, report })}\n`);
