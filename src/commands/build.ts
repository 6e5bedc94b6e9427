/** `shelters build`: the database as a release. */

import type { Command } from "commander";
import { type BuildReport, build } from "../build.js";
import type { Reporter } from "../reporter.js";
import { action, formatBytes, formatCount, options } from "./command.js";

export interface BuildFlags {
  readonly database: string;
  readonly site: string;
  /** False with --no-brotli. */
  readonly brotli?: boolean;
}

export function addBuild(program: Command): void {
  program
    .command("build")
    .description("write every export of the database as a release")
    .addOption(options.database())
    .addOption(options.site())
    .addOption(options.noBrotli())
    .addHelpText("after", "\nExample:\n  shelters build --site /srv/shelters")
    .action(action(runBuild));
}

const stages = {
  exports: "Writing exports",
  compression: "Compressing",
  swap: "Putting the release in place",
} as const;

/** Builds and reports. */
export async function runBuild(
  { database, site, brotli = true }: BuildFlags,
  reporter: Reporter,
): Promise<BuildReport> {
  const started = performance.now();
  const report = await build({
    database,
    site,
    brotli,
    onProgress: (stage, done, of) =>
      reporter.step(`${stages[stage]}: ${formatCount(done)} of ${formatCount(of)}`),
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const inBrotli = brotli ? ` (${formatBytes(report.brotliBytes)} in brotli)` : "";
  reporter.line(
    `Built ${report.site}: ${formatCount(report.places)} places, ${formatCount(report.files)} files, ${formatBytes(report.bytes)}${inBrotli}, generation ${report.generation}, in ${seconds} s.`,
  );
  return report;
}
