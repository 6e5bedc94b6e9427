/** A release of made-up places, with what each stage of making it took. */

import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./processes.js";
import type { StageResult } from "./stages.js";
import { writeSynthetic } from "./synthetic.js";
import { shown, size, table } from "./table.js";

export interface BuiltSize {
  readonly count: number;
  readonly source: string;
  readonly database: string;
  readonly site: string;
  readonly stages: readonly StageResult[];
  readonly report: { readonly bytes: number; readonly brotliBytes: number; readonly files: number };
}

const STAGES = join(import.meta.dirname, "stages.js");

/** Makes the places, pulls and builds them in a process of its own; what takes long and is not asked about is left out. */
export async function buildSize(
  work: string,
  count: number,
  without: readonly ("brotli" | "tiles")[] = [],
): Promise<BuiltSize> {
  const folder = join(work, String(count));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [source, database, site] = ["places.csv", "places.sqlite", "site"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeSynthetic(source, { count });
  const choices = without.map((part) => `--no-${part}`);
  const [line = "{}"] = await runProgram([process.execPath, STAGES, source, database, site, ...choices]);
  const { results, report } = JSON.parse(line) as {
    results: StageResult[];
    report: BuiltSize["report"];
  };
  return { count, source, database, site, stages: results, report };
}

/** Seconds and peak memory by stage. */
export function stageTable(built: readonly BuiltSize[]): string {
  const names = [...new Set(built.flatMap(({ stages }) => stages.map(({ stage }) => stage)))];
  const head = ["stage", ...built.map(({ count }) => `${shown(count)} places`)];
  const rows = names.map((name) => [
    name,
    ...built.map(({ stages }) => {
      const found = stages.find(({ stage }) => stage === name);
      return found === undefined ? "-" : `${shown(found.seconds)} s, ${shown(found.peak)} MiB`;
    }),
  ]);
  const totals = [
    ["all", ...built.map(({ stages }) => `${shown(stages.reduce((sum, one) => sum + one.seconds, 0))} s`)],
    ["source, CSV", ...built.map(({ source }) => size(statSync(source).size))],
    [
      "release: plain files, and their brotli forms",
      ...built.map(({ report }) => `${size(report.bytes)}, ${size(report.brotliBytes)}`),
    ],
  ];
  return table(head, [...rows, ...totals]);
}
