/** Mirror runs as tests need them: short waits, and what the run said. */

import { mirror } from "../../src/mirror.js";
import type { FetchLimits } from "../../src/mirrororigin.js";
import type { MirrorOptions, MirrorReport } from "../../src/mirrorrun.js";
import { type MadePlace, madePlaces } from "./madeplaces.js";

const limits: Partial<FetchLimits> = { stall: 700, connect: 2000, pause: 5, longestPause: 100, retries: 12 };

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
