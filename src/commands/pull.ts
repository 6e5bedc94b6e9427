/** `shelters pull`: a source into the database. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { bundledPlaces } from "../program.js";
import { type PullOptions, type PullReport, pull } from "../pull/pull.js";
import { type OptionalRepair, optionalRepairs } from "../repairs.js";
import { knownRegions } from "../sources/api.js";
import { networkDefaults } from "../sources/source.js";
import { action, formatCount, options } from "./command.js";
import { pullLines, requestLine } from "./pullreport.js";
import type { Reporter } from "./reporter.js";

interface PullFlags {
  readonly from: string;
  readonly database: string;
  readonly force?: boolean;
  readonly regions?: readonly string[] | "auto";
  readonly without?: ReadonlySet<OptionalRepair>;
  readonly contact?: string;
  readonly timeout?: number;
  readonly deadline?: number;
  readonly title?: string;
  readonly attribution?: string;
  readonly license?: string;
  readonly date?: string;
}

export function addPull(program: Command): void {
  const repairs = Object.entries(optionalRepairs).map(([name, what]) => `${name} (${what})`);
  program
    .command("pull")
    .description("read places from a file or a service into the database; all of them, or none")
    .option(
      "--from <source>",
      'CSV, JSON or GeoJSON file, "-" for standard input, or the address of a service',
      bundledPlaces,
    )
    .addOption(options.database())
    .option("--force", "replace the places even when many are refused or lost; ask without conditions")
    .addOption(
      new Option(
        "--regions <names>",
        'regions to ask a service for, comma-separated; "auto" tries what its data suggest',
      )
        .default(undefined, knownRegions.join(","))
        .argParser(parseRegions),
    )
    .addOption(
      new Option(
        "--without <repairs>",
        `repairs not to make, comma-separated: ${repairs.join(", ")}`,
      ).argParser(parseRepairs),
    )
    .option("--contact <address>", "web or mail address of whoever asks, for the service's log")
    .addOption(
      new Option("--timeout <seconds>", "longest time for one request")
        .default(networkDefaults.request / 1000)
        .argParser(parseSeconds),
    )
    .addOption(
      new Option("--deadline <seconds>", "longest time for all requests of a pull")
        .default(networkDefaults.deadline / 1000)
        .argParser(parseSeconds),
    )
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
  shelters pull --from https://example.org/api.php --contact https://example.net/about
  curl https://example.org/huts.csv | shelters pull --from -`,
    )
    .action(action(runPull));
}

/** Pulls and reports; with no flags but these two, the bundled places. */
export async function runPull(
  flags: Pick<PullFlags, "database"> & Partial<PullFlags>,
  reporter: Reporter,
): Promise<PullReport> {
  reporter.step("Pulling places");
  const report = await pull(pullOptions(flags, reporter));
  for (const line of pullLines(report)) reporter.line(line);
  return report;
}

function pullOptions(
  {
    from = bundledPlaces,
    database,
    force = false,
    regions,
    without,
    contact,
    ...flags
  }: Pick<PullFlags, "database"> & Partial<PullFlags>,
  reporter: Reporter,
): PullOptions {
  const { title, attribution, license, date, timeout, deadline } = flags;
  const said = { title, attribution, license, date };
  const finished = new Map<string, number | null>();
  return {
    from,
    database,
    force,
    about: Object.fromEntries(Object.entries(said).filter(([, text]) => text !== undefined)),
    ...(regions !== undefined && { regions }),
    ...(without !== undefined && { without }),
    ...(contact !== undefined && { contact: checkContact(contact) }),
    limits: {
      ...(timeout !== undefined && { request: timeout * 1000 }),
      ...(deadline !== undefined && { deadline: deadline * 1000 }),
    },
    onProgress: (records) => reporter.step(`Pulling places: ${formatCount(records)} records read`),
    onRequest: (event) => reporter.step(requestLine(event, finished)),
    onRetry: (text) => reporter.line(text),
  };
}

function parseRegions(text: string): readonly string[] | "auto" {
  if (text === "auto") return "auto";
  const names = text.split(",").map((name) => name.trim().normalize("NFC"));
  if (names.every((name) => name !== "")) return names;
  throw new InvalidArgumentError('Names of regions with commas between them, or "auto".');
}

function parseRepairs(text: string): ReadonlySet<OptionalRepair> {
  const known = Object.keys(optionalRepairs) as OptionalRepair[];
  const names = text.split(",").map((name) => known.find((repair) => repair === name.trim()));
  if (names.includes(undefined)) throw new InvalidArgumentError(`One or more of ${known.join(", ")}.`);
  return new Set(names.filter((name) => name !== undefined));
}

function parseSeconds(text: string): number {
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError("A whole number of seconds, 1 or more.");
}

/** It becomes part of a header line. */
function checkContact(contact: string): string {
  if (/^[\x21-\x27\x2A-\x7E]{1,200}$/.test(contact)) return contact;
  throw new InvalidArgumentError("An address of ASCII characters without blanks or brackets.");
}
