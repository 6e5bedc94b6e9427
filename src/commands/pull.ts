/** `shelters pull`: a source into the database. */

import type { Command } from "commander";
import { bundledPlaces } from "../program.js";
import { type PullReport, pull } from "../pull.js";
import type { Reporter } from "../reporter.js";
import { action, formatCount, options } from "./command.js";

interface PullFlags {
  readonly from: string;
  readonly database: string;
  readonly force?: boolean;
  readonly title?: string;
  readonly attribution?: string;
  readonly license?: string;
  readonly date?: string;
}

export function addPull(program: Command): void {
  program
    .command("pull")
    .description("read places from a file into the database; all of them, or none")
    .option("--from <file>", 'CSV, JSON or GeoJSON, or "-" for standard input', bundledPlaces)
    .addOption(options.database())
    .option("--force", "replace the places even when many are refused or lost")
    .option("--title <text>", "what the data set is called")
    .option("--attribution <text>", "whom to name as the source")
    .option("--license <text>", "licence of the data: an address or words")
    .option("--date <date>", "age of the data, ISO 8601; default: what the source says, else the file's date")
    .addHelpText(
      "after",
      `
Examples:
  shelters pull
  shelters pull --from huts.geojson --attribution "Club X" --license https://example.org/terms
  curl https://example.org/huts.csv | shelters pull --from -`,
    )
    .action(action(runPull));
}

/** Pulls and reports; with no flags but these two, the bundled places. */
export async function runPull(
  flags: Pick<PullFlags, "database"> & Partial<PullFlags>,
  reporter: Reporter,
): Promise<PullReport> {
  const { from = bundledPlaces, database, force = false, title, attribution, license, date } = flags;
  const said = { title, attribution, license, date };
  reporter.step("Pulling places");
  const report = await pull({
    from,
    database,
    force,
    about: Object.fromEntries(Object.entries(said).filter(([, text]) => text !== undefined)),
    onProgress: (records) => reporter.step(`Pulling places: ${formatCount(records)} records read`),
  });
  reporter.line(
    `Pulled ${formatCount(report.places)} places (${formatCount(report.before)} before) into ${report.database}; data of ${report.provenance.date}.`,
  );
  for (const [repair, count] of Object.entries(report.repaired))
    reporter.line(`  repaired, ${repair}: ${formatCount(count)}`);
  for (const [reason, count] of Object.entries(report.refused))
    reporter.line(`  refused, ${reason}: ${formatCount(count)}`);
  for (const { reason, record } of report.refusals.slice(0, 20)) reporter.line(`    ${reason}: ${record}`);
  if (report.refusals.length > 20) reporter.line("    ... all of them with --json");
  return report;
}
