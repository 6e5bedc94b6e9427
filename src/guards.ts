/** What is too bad, or loses too much, to replace the places there are. */

import { UserError } from "./errors.js";
import type { Group } from "./groups.js";

const limits = {
  refusedShare: 0.05, // of the records read: more means that the source is not what it should be
  refusedAlways: 3, // a handful is let pass whatever its share, so that small files can be pulled
  lostShare: 0.05, // of the places there were before
} as const;

/** Throws UserError `refused` when too many records are unusable. */
export function refuseBadSource(report: {
  readonly read: number;
  readonly places: number;
  readonly refusals: readonly { readonly reason: string; readonly record: string }[];
}): void {
  const refused = report.read - report.places;
  const shown = report.refusals.slice(0, 20).map(({ reason, record }) => `${reason}: ${record}`);
  if (report.places === 0) {
    throw new UserError(
      "refused",
      `The source holds no usable place (${report.read} records read). The places pulled before are kept; --force overrides.`,
      shown,
    );
  }
  if (refused > limits.refusedAlways && refused > report.read * limits.refusedShare) {
    throw new UserError(
      "refused",
      `${refused} of ${report.read} records are unusable, more than ${limits.refusedShare * 100} %. The places pulled before are kept; --force overrides.`,
      shown,
    );
  }
}

/** Throws UserError `refused` when too many places, or a whole region or category, would be lost. */
export function refuseLoss(before: readonly Group[], after: readonly Group[]): void {
  const [had, has] = [countOf(before), countOf(after)];
  if (has < had * (1 - limits.lostShare)) {
    throw new UserError(
      "refused",
      `The source has ${has} places where ${had} were known: more than ${limits.lostShare * 100} % would be lost. The places pulled before are kept; --force overrides.`,
    );
  }
  for (const key of ["region", "category"] as const) {
    const left = new Set(after.map((group) => group[key]));
    const gone = [...new Set(before.map((group) => group[key]))].filter(
      (value) => value !== null && !left.has(value),
    );
    if (gone.length > 0) {
      throw new UserError(
        "refused",
        `The source has no place any more of ${key} ${gone.join(", ")}. The places pulled before are kept; --force overrides.`,
      );
    }
  }
}

/** Places of all groups. */
export function countOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}
