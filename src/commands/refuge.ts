/** A server for a refuge: on the local network, with a copy that keeps itself fresh. */

import { existsSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { mirror } from "../mirror/mirror.js";
import { MANIFEST, readManifest } from "../release/manifest.js";
import { settle } from "../release/swap.js";
import { lanAddresses, qrText, sheetHtml } from "../serve/lan.js";
import type { MirrorFlags } from "./mirrorflags.js";
import { describeReport, keepFresh, mirrorOptions } from "./mirroring.js";
import type { Reporter } from "./reporter.js";

const EVERY = 6 * 3600; // seconds between looks at the source

interface RefugeFlags extends Partial<MirrorFlags> {
  readonly site: string;
  readonly wifi?: string;
}

/** There must be something to serve: without a copy the first one is waited for. True when there was one, perhaps an old one. */
export async function haveCopy(source: string, flags: RefugeFlags, reporter: Reporter): Promise<boolean> {
  settle(flags.site);
  if (existsSync(join(flags.site, MANIFEST))) return true;
  const report = await mirror(mirrorOptions(source, flags.site, flags, reporter));
  reporter.line(describeReport(report));
  return false;
}

/** Renews the copy until the signal; whatever a renewal says, the server goes on with the copy that it has. */
export async function renew(
  source: string,
  flags: RefugeFlags,
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

/** Says the addresses, draws the QR code, and writes the sheet to print beside the release. */
export function showLan({ site, wifi }: RefugeFlags, port: number, reporter: Reporter): void {
  const [address, ...others] = lanAddresses(port);
  if (address === undefined) {
    reporter.line("No network: connect to a Wi-Fi or open a hotspot, then start again.");
    return;
  }
  const path = join(dirname(resolve(site)), `${basename(resolve(site))}-sheet.html`);
  writeFileSync(path, sheetHtml({ ...readManifest(site).manifest, address, wifi: wifi ?? null }));
  reporter.line(`On the local network: ${address}${others.map((other) => `\n  or ${other}`).join("")}
${qrText(address)}
To print and pin up: ${path}`);
}
