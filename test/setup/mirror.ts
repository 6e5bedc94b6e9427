/** Mirror runs as tests need them: short waits, and what the run said. */

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "../../src/build/build.js";
import { mirror } from "../../src/mirror/mirror.js";
import type { FetchLimits } from "../../src/mirror/origin.js";
import type { MirrorOptions, MirrorReport } from "../../src/mirror/run.js";
import { readManifest } from "../../src/release/manifest.js";
import { temporaryFolder } from "./folders.js";
import { type MadePlace, madePlaces } from "./madeplaces.js";
import { pullRecords } from "./release.js";

const limits: Partial<FetchLimits> = { stall: 700, pause: 5, longestPause: 100, retries: 12 };

/** Mirrors a source into a site. */
export async function mirrorInto(
  site: string,
  source: string,
  options: Partial<MirrorOptions> = {},
): Promise<MirrorReport & { readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const report = await mirror({
    site,
    source,
    rebuild: "never",
    onLine: (line) => lines.push(line),
    onProgress: () => {},
    ...options,
    limits: { ...limits, ...options.limits },
  });
  return { ...report, lines };
}

/** Waits until the server at an address has gone over to the release that lies in its folder. */
export async function untilServed(address: string, site: string): Promise<void> {
  const { bytes } = readManifest(site);
  const served = async (): Promise<boolean> =>
    Buffer.from(await (await fetch(`${address}/manifest.json`)).arrayBuffer()).equals(bytes);
  while (!(await served())) await pause(50);
}

/** A release of few files: tiles of low zooms only. */
export async function buildSmall(records: readonly unknown[]) {
  const folder = temporaryFolder();
  const database = join(folder, "places.sqlite");
  const site = join(folder, "site");
  await pullRecords(database, records);
  await rebuildSmall(database, site);
  return { folder, database, site, manifest: readManifest(site).manifest };
}

/** Builds the small release of a database. */
export function rebuildSmall(database: string, site: string) {
  return build({ database, site, map: { maxZoom: 1 }, onProgress: () => {} });
}

/** Places without a region: few files, so that a build takes little. */
export function fewFiles(count: number, seed = 1): MadePlace[] {
  return madePlaces(count, seed).map((place) => ({ ...place, region: "" }));
}

/** The same places, some of them with another text. */
export function changed(places: readonly MadePlace[], every: number, word: string): MadePlace[] {
  return places.map((place, index) =>
    index % every === 0 ? { ...place, descriptif: `${word} ${place.id}` } : place,
  );
}
