/** What a release says of itself and of its places: the head of the manifest, and of every page and document. */

import { createHash } from "node:crypto";
import type { Provenance } from "../place.js";
import { program } from "../program.js";
import type { ManifestRegion } from "../release/manifest.js";
import type { Store } from "../store/store.js";
import { categoryNumbers } from "../taxonomy.js";
import { planSelections, regionSlugs, type SelectionPlan } from "./plan.js";

/** What identifies a release: its places, what is said of them, and the program that encodes them. */
export function generationOf(store: Pick<Store, "contentHash" | "provenance">): string {
  return generationAt(store.contentHash(), store.provenance());
}

/** The generation that this program gives, or gave, to a state of the places. */
export function generationAt(contentHash: string, provenance: Provenance): string {
  return createHash("sha256")
    .update(JSON.stringify([program.generator, contentHash, provenance]))
    .digest("hex")
    .slice(0, 16);
}

/** Provenance, generator, generation, counts and boxes. */
export function describe(store: Store) {
  return {
    ...store.provenance(),
    generator: program.generator,
    generation: generationOf(store),
    ...countsOf(planSelections(store.groups())),
  };
}

export type Facts = ReturnType<typeof describe>;

function countsOf(selections: readonly SelectionPlan[]) {
  const slugs = regionSlugs(selections.map(({ region }) => region).filter((region) => region !== null));
  const counts = (region: string | null): Record<string, number> =>
    Object.fromEntries(
      categoryNumbers.map((number) => [
        number,
        selections.find((one) => one.region === region && one.category === number)?.count ?? 0,
      ]),
    );
  const regions: ManifestRegion[] = selections
    .filter(({ region, category }) => region !== null && category === null)
    .map(({ region, count }) => ({
      name: region ?? "",
      slug: slugs.get(region ?? "") ?? "",
      count,
      categories: counts(region),
    }));
  const whole = selections.find(({ region, category }) => region === null && category === null);
  return { count: whole?.count ?? 0, bbox: whole?.bbox ?? null, categories: counts(null), regions };
}
