/** `shelters build`: the database as a release. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { type BuildReport, build } from "../build.js";
import { type HostName, hostNames } from "../hosts.js";
import type { Reporter } from "../reporter.js";
import { DEFAULT_MAX_ZOOM } from "../tiles.js";
import { action, formatBytes, formatCount, options } from "./command.js";

export interface BuildFlags {
  readonly database: string;
  readonly site: string;
  /** False with --no-brotli. */
  readonly brotli?: boolean;
  readonly maxZoom?: number;
  /** False with --no-tiles. */
  readonly tiles?: boolean;
  readonly baseUrl?: string;
  readonly basemap?: string;
  readonly host?: HostName;
  readonly api?: string;
}

export function addBuild(program: Command): void {
  program
    .command("build")
    .description("write every export of the database, tiles and the map page as a release")
    .addOption(options.database())
    .addOption(options.site())
    .addOption(options.noBrotli())
    .addOption(
      new Option("--max-zoom <zoom>", "largest zoom of the tiles, 0 to 15")
        .default(DEFAULT_MAX_ZOOM)
        .argParser(parseZoom),
    )
    .option("--no-tiles", "no tiles: the page keeps its list, search and downloads")
    .addOption(
      new Option(
        "--base-url <address>",
        "where the release will stand, for absolute addresses in tiles.json",
      ).argParser(parseAddress),
    )
    .option("--basemap <file>", "a PMTiles file in the Protomaps layout, drawn below the places")
    .addOption(
      new Option("--host <name>", "add what a static host needs to serve the release right")
        .choices(hostNames)
        .default("none"),
    )
    .addOption(
      new Option("--api <address>", "a server's api.php that the host hands requests on to").argParser(
        parseApi,
      ),
    )
    .addHelpText(
      "after",
      `
Examples:
  shelters build --site /srv/shelters
  shelters build --base-url https://huts.example.org --basemap pyrenees.pmtiles
  shelters build --host cloudflare --api https://api.example.org/api.php`,
    )
    .action(action(runBuild));
}

const stages = {
  exports: "Writing exports",
  tiles: "Writing tiles",
  compression: "Compressing",
  swap: "Putting the release in place",
} as const;

/** Builds and reports. */
export async function runBuild(
  {
    database,
    site,
    brotli = true,
    maxZoom = DEFAULT_MAX_ZOOM,
    tiles = true,
    baseUrl,
    basemap,
    host = "none",
    api,
  }: BuildFlags,
  reporter: Reporter,
): Promise<BuildReport> {
  const started = performance.now();
  const report = await build({
    database,
    site,
    brotli,
    map: { maxZoom: tiles ? maxZoom : null, baseUrl: baseUrl ?? null, basemap: basemap ?? null },
    host,
    api: api ?? null,
    onProgress: (stage, done, of) =>
      reporter.step(`${stages[stage]}: ${formatCount(done)} of ${formatCount(of)}`),
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const inBrotli = brotli ? ` (${formatBytes(report.brotliBytes)} in brotli)` : "";
  reporter.line(
    `Built ${report.site}: ${formatCount(report.places)} places, ${formatCount(report.tiles)} tiles, ${formatCount(report.files)} files, ${formatBytes(report.bytes)}${inBrotli}, generation ${report.generation}, in ${seconds} s.`,
  );
  if (report.thinnedZooms.length > 0)
    reporter.line(`  tiles of zoom ${report.thinnedZooms.join(", ")} hold the most important places only`);
  return report;
}

function parseZoom(text: string): number {
  const zoom = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (zoom >= 0 && zoom <= 15) return zoom;
  throw new InvalidArgumentError("A zoom is an integer from 0 to 15.");
}

function parseAddress(text: string): string {
  if (/^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("An address begins with http:// or https:// and has no query.");
}

function parseApi(text: string): string {
  // It goes into files of the host: nothing in it may end a line or a string there.
  if (/^https?:\/\/[A-Za-z0-9.:[\]-]+\/[A-Za-z0-9._~/-]*$/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError(
    "An address such as https://api.example.org/api.php, without a question mark.",
  );
}
