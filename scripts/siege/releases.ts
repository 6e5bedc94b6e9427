/** The releases that the trials serve. */

import { linkSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../src/build/build.js";
import { pull } from "../../src/pull/pull.js";
import { replaceRelease } from "../../src/release/swap.js";
import { writeSynthetic } from "../synthetic.js";
import type { Releases } from "./trial.js";

/** Builds them below a folder. */
export async function makeReleases(folder: string): Promise<Releases> {
  const make = async (name: string, count: number, seed: number): Promise<string> => {
    const at = (suffix: string): string => join(folder, `${name}${suffix}`);
    await writeSynthetic(at(".csv"), { count, seed });
    const about = { date: `2026-01-0${seed}T00:00:00Z` };
    await pull({ from: at(".csv"), database: at(".sqlite"), force: true, about, onProgress: () => {} });
    await build({
      database: at(".sqlite"),
      site: at(""),
      brotli: false,
      map: { maxZoom: 6 },
      onProgress: () => {},
    });
    return at("");
  };
  const [one, first, second, large] = [
    await make("one", 5000, 1),
    await make("first", 500, 2),
    await make("second", 500, 3),
    await make("large", 20_000, 4),
  ];
  const swapped = join(folder, "swapped");
  await exchange(swapped, first);
  return { one, first, second, swapped, large };
}

/** Puts a copy of a release in the place of another, as a build does. */
export async function exchange(site: string, source: string): Promise<void> {
  await replaceRelease(site, async (folder) => linkAll(source, folder));
}

function linkAll(source: string, target: string): void {
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(to);
      linkAll(from, to);
    } else linkSync(from, to);
  }
}
