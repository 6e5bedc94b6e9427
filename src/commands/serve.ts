/** `shelters serve`: a release over HTTP. */

import { existsSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { lanAddresses, qrText, sheetHtml } from "../lan.js";
import { MANIFEST, type Manifest } from "../manifest.js";
import { mirror } from "../mirror.js";
import type { Reporter } from "../reporter.js";
import { startServer } from "../server.js";
import { settle } from "../swap.js";
import { action, formatCount, options } from "./command.js";
import { addMirrorOptions, describeReport, keepFresh, type MirrorFlags, mirrorOptions } from "./mirroring.js";

export interface ServeFlags {
  readonly site: string;
  readonly host: string;
  readonly port: number;
  readonly memory: number;
  /** Address or folder of the release to keep a fresh copy of. */
  readonly mirror?: string;
  readonly lan?: boolean;
  readonly wifi?: string;
}

const MIRRORED_SITE = "dist/mirror"; // a copy never takes the place of what was built here by mere default
const EVERY = 6 * 3600; // seconds between looks at the source

export function addServe(program: Command): void {
  addMirrorOptions(
    addServingOptions(
      program
        .command("serve")
        .description("serve a release: its files, and /api.php")
        .addOption(options.site())
        .option(
          "--mirror <source>",
          `serve a copy of this release and keep it fresh; default of --site: ${MIRRORED_SITE}`,
        )
        .option("--lan", "for a local network: every address, a QR code, and a sheet of paper to print")
        .option("--wifi <name>", "name of the Wi-Fi, for the sheet")
        .addHelpText(
          "after",
          `
Examples:
  shelters serve --host 0.0.0.0 --port 8080
  shelters serve --lan --wifi "Refuge"
  shelters serve --mirror https://example.org/shelters/ --every 6h`,
        ),
    ),
  ).action((flags: ServeFlags & MirrorFlags, command: Command) =>
    action<typeof flags>((given, reporter) => {
      const isDefault = given.mirror !== undefined && command.getOptionValueSource("site") === "default";
      return runServe(isDefault ? { ...given, site: MIRRORED_SITE } : given, reporter);
    })(flags, command),
  );
}

/** The options of a command that serves. */
export function addServingOptions(command: Command): Command {
  return command.addOption(options.host()).addOption(options.port()).addOption(options.memory());
}

/** Serves until SIGINT or SIGTERM. */
export async function runServe(flags: ServeFlags & Partial<MirrorFlags>, reporter: Reporter): Promise<void> {
  const { site, port, memory, lan = false } = flags;
  const host = lan ? "0.0.0.0" : flags.host;
  const isFirstNow = flags.mirror === undefined || (await haveCopy(flags.mirror, flags, reporter));
  const server = await startServer({ site, host, port, memory, log: (line) => reporter.line(line) });
  // Heard before the address is said: who reads it may stop the server at once.
  const signal = stopSignal();
  const { manifest } = server.release();
  reporter.line(`Serving ${formatCount(manifest.count)} places, data of ${manifest.date}, at ${server.address}
Try:
  ${server.address}/                                    the page
  curl '${server.address}/api.php?format=json&limit=3'
  curl '${server.address}/api.php?format=gpx&bbox=-0.5,42.6,0.5,43&type_lieu=5'
Stop with Ctrl+C.`);
  if (lan) showLan(flags, manifest, Number(new URL(server.address).port || 80), reporter);
  const { generation, date, count } = manifest;
  reporter.result({ address: server.address, generation, date, places: count });
  const stopped = new AbortController();
  if (flags.mirror !== undefined) void renew(flags.mirror, flags, isFirstNow, stopped.signal, reporter);
  await signal;
  stopped.abort(new Error("stopped"));
  await server.close();
}

/** There must be something to serve: without a copy the first one is waited for. True when the copy may be an old one. */
async function haveCopy(
  source: string,
  flags: ServeFlags & Partial<MirrorFlags>,
  reporter: Reporter,
): Promise<boolean> {
  settle(flags.site);
  if (existsSync(join(flags.site, MANIFEST))) return true;
  const report = await mirror(mirrorOptions(source, flags.site, flags, reporter));
  reporter.line(describeReport(report));
  return false;
}

/** Whatever a renewal says, the server goes on with the copy that it has. */
async function renew(
  source: string,
  flags: ServeFlags & Partial<MirrorFlags>,
  isFirstNow: boolean,
  signal: AbortSignal,
  reporter: Reporter,
): Promise<void> {
  const quiet: Reporter = { ...reporter, result: () => {} }; // the one result of serving is its address
  try {
    const how = mirrorOptions(source, flags.site, flags, quiet);
    await keepFresh(how, flags.every ?? EVERY, isFirstNow, signal, quiet);
  } catch (error) {
    reporter.line(
      `The copy is not renewed any more: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}

function showLan({ site, wifi }: ServeFlags, manifest: Manifest, port: number, reporter: Reporter): void {
  const [address, ...others] = lanAddresses(port);
  if (address === undefined) {
    reporter.line("No network: connect to a Wi-Fi or open a hotspot, then start again.");
    return;
  }
  const path = join(dirname(resolve(site)), `${basename(resolve(site))}-sheet.html`);
  writeFileSync(path, sheetHtml({ ...manifest, address, wifi: wifi ?? null }));
  reporter.line(`On the local network: ${address}${others.map((other) => `\n  or ${other}`).join("")}
${qrText(address)}
To print and pin up: ${path}`);
}

/** Resolves at SIGINT or SIGTERM; a second signal does not wait for the answers in flight. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(0));
        resolve();
      });
    }
  });
}
