/** The history of another release, as ours: whole and understood, or not at all. */

import { createPlaceParser } from "../parse.js";
import type { Json } from "../place.js";
import { isObject } from "../record.js";
import type { InheritedStep } from "../sources/source.js";
import type { Change } from "../store/difference.js";
import type { Step } from "../store/history.js";

/** The steps of an upstream's `changes/` as steps of the store; empty when any of them cannot be read. */
export function adoptSteps(
  steps: readonly InheritedStep[],
): readonly (Step & { readonly changes: readonly Change[] })[] {
  const adopted = steps.map(adoptStep).filter((step) => step !== null);
  return adopted.length === steps.length ? adopted : [];
}

function adoptStep(step: InheritedStep): (Step & { readonly changes: readonly Change[] }) | null {
  const { number, content, provenance, places } = step;
  const isSound =
    Number.isSafeInteger(number) &&
    Number.isSafeInteger(places) &&
    isObject(provenance) &&
    Array.isArray(step.upserts) &&
    Array.isArray(step.removed);
  if (!isSound) return null;
  const parse = createPlaceParser();
  const changes: Change[] = [];
  for (const { former, feature } of step.upserts) {
    const parsed = parse(feature);
    if ("refused" in parsed) return null;
    const { id, name } = parsed.place;
    changes.push({
      id,
      name,
      former: isObject(former) ? (former as Record<string, Json>) : null,
      place: parsed.place,
    });
  }
  for (const { id, name } of step.removed) {
    if (!Number.isSafeInteger(id)) return null;
    changes.push({ id, name: String(name), former: null, place: null });
  }
  return { number, content, provenance, places, size: changes.length, changes };
}
