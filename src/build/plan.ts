/** Which files a release holds for its places. */

import { bbox as turfBBox } from "@turf/bbox";
import { type FileFormatName, fileFormatNames } from "../formats/index.js";
import type { BBox } from "../place.js";
import { exportPath } from "../release/paths.js";
import type { Group } from "../store/store.js";
import { type Category, categoryNumbers } from "../taxonomy.js";
import { slugify } from "../text.js";

/** A region and category, null = all, with what is known of its places before they are read. */
export interface SelectionPlan {
  readonly region: string | null;
  readonly category: Category | null;
  readonly count: number;
  readonly bbox: BBox | null;
}

export interface PlannedExport extends SelectionPlan {
  readonly format: FileFormatName;
  /** Path in the release, with forward slashes. */
  readonly path: string;
}

// Windows opens devices under these names, in any folder.
const DEVICES = ["con", "prn", "aux", "nul", ...numbered("com"), ...numbered("lpt")];
const LONGEST_SLUG = 60; // characters: Windows' paths end at 260

function numbered(name: string): string[] {
  return Array.from({ length: 10 }, (_, number) => `${name}${number}`);
}

/** Path names of regions, in the order of the names: stable, lower case, one each. */
export function regionSlugs(regions: readonly string[]): ReadonlyMap<string, string> {
  const slugs = new Map<string, string>();
  const taken = new Set(["all", ...DEVICES]);
  for (const region of [...new Set(regions)].sort()) {
    const slug = slugify(region).slice(0, LONGEST_SLUG).replace(/-$/, "");
    let unique = slug;
    for (let number = 2; taken.has(unique); number++) unique = `${slug}-${number}`;
    taken.add(unique);
    slugs.set(region, unique);
  }
  return slugs;
}

/** Every region x category, `all` on each axis first, with counts and boxes. */
export function planSelections(groups: readonly Group[]): SelectionPlan[] {
  const regions = [null, ...regionsOf(groups)];
  return regions.flatMap((region) =>
    [null, ...categoryNumbers].map((category) => {
      const chosen = groups.filter(
        (group) =>
          (region === null || group.region === region) && (category === null || group.category === category),
      );
      return {
        region,
        category,
        count: chosen.reduce((sum, { count }) => sum + count, 0),
        bbox: boxAround(chosen.map((group) => group.bbox)),
      };
    }),
  );
}

/** Names of the regions that have places, sorted. */
export function regionsOf(groups: readonly Group[]): string[] {
  return [...new Set(groups.map(({ region }) => region))].filter((region) => region !== null).sort();
}

/** The smallest box around boxes; null around none. */
function boxAround(boxes: readonly BBox[]): BBox | null {
  if (boxes.length === 0) return null;
  const corners = boxes.flatMap(({ west, south, east, north }) => [
    [west, south],
    [east, north],
  ]);
  const [west, south, east, north] = turfBBox({ type: "MultiPoint", coordinates: corners }) as [
    number,
    number,
    number,
    number,
  ];
  return { west, south, east, north };
}

/** Every selection in every format and flavour. */
export function planExports(selections: readonly SelectionPlan[]): PlannedExport[] {
  const slugs = regionSlugs(selections.map(({ region }) => region).filter((region) => region !== null));
  return selections.flatMap((selection) =>
    fileFormatNames.map((format) => {
      const slug = selection.region === null ? null : (slugs.get(selection.region) ?? null);
      return { ...selection, format, path: exportPath(slug, selection.category, format) };
    }),
  );
}
