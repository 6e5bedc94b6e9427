/** `shelters build`: the database as a release. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { type BuildReport, build } from "../build.js";
import { type HostName, hostNames } from "../hosts.js";
import type { Reporter } from "../reporter.js";
import { action, formatBytes, formatCount, options } from "./command.js";

export interface BuildFlags {
  readonly database: string;
  readonly site: string;
  readonly host?: HostName;
  readonly api?: string;
}

export function addBuild(program: Command): void {
  program
    .command("build")
    .description("write every export of the database as a release")
    .addOption(options.database())
    .addOption(options.site())
    .addOption(
      new Option("--host <name>", "add what a static host needs to serve the release right")
        .choices(hostNames)
        .default("none"),
    )
    .addOption(
      new Option("--api <address>", "a server's api.php that the host hands requests on to").argParser(
        parseAddress,
      ),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  shelters build --site /srv/shelters\n  shelters build --host cloudflare --api https://api.example.org/api.php",
    )
    .action(action(runBuild));
}

const stages = {
  exports: "Writing exports",
  compression: "Compressing",
  swap: "Putting the release in place",
} as const;

/** Builds and reports. */
export async function runBuild(
  { database, site, host = "none", api }: BuildFlags,
  reporter: Reporter,
): Promise<BuildReport> {
  const started = performance.now();
  const report = await build({
    database,
    site,
    host,
    api,
    onProgress: (stage, done, of) =>
      reporter.step(`${stages[stage]}: ${formatCount(done)} of ${formatCount(of)}`),
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  reporter.line(
    `Built ${report.site}: ${formatCount(report.places)} places, ${formatCount(report.files)} files, ${formatBytes(report.bytes)} (${formatBytes(report.brotliBytes)} in brotli), generation ${report.generation}, in ${seconds} s.`,
  );
  return report;
}

function parseAddress(text: string): string {
  // It goes into files of the host: nothing in it may end a line or a string there.
  if (/^https?:\/\/[A-Za-z0-9.:[\]-]+\/[A-Za-z0-9._~/-]*$/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError(
    "An address such as https://api.example.org/api.php, without a question mark.",
  );
}
