/** What a pull writes down of its data: title, attribution, licence, date, and where they came from. */

import { UserError } from "../errors.js";
import type { Provenance } from "../place.js";
import { isAddress } from "../sources/index.js";
import { parseDate } from "../sources/provenance.js";
import type { Origin } from "../sources/source.js";
import { cleanLabel } from "../text.js";

const DEFAULT_PROVENANCE: Omit<Provenance, "date"> = {
  title: "Mountain shelters",
  attribution: "Unknown source.",
  license: "No licence is known: ask the publisher before you redistribute these data.",
};

/**
 * What is said of the data, and what stands where nothing is said; `clock` is the date of data that name none. Throws
 * UserError `usage` for a date that is none.
 */
export function settleProvenance(from: string, said: Partial<Provenance>, clock: string | null): Provenance {
  const { title, attribution, license } = said;
  const fallback = { ...DEFAULT_PROVENANCE, ...defaultAttribution(from) };
  const date = parseDate(said.date ?? clock);
  if (date === null)
    throw new UserError(
      "usage",
      `The data's date must be ISO 8601, such as 2026-11-20 or 2026-11-20T00:00:00Z; got ${JSON.stringify(said.date ?? clock)}.`,
    );
  // Blank is not said: nobody is to read that there are no terms.
  return {
    title: cleanLabel(title ?? "") || fallback.title,
    attribution: cleanLabel(attribution ?? "") || fallback.attribution,
    license: cleanLabel(license ?? "") || fallback.license,
    date,
  };
}

function defaultAttribution(from: string): Partial<Provenance> {
  if (!isAddress(from)) return {};
  return { attribution: `Places of ${new URL(from).host}. Confirm attribution with the publisher.` };
}

/** Where a service's places came from; a file says nothing that would be the same on another machine. */
export function originOf(
  from: string,
  { read, repaired, refused }: Origin["pulled"],
  clock: string | null,
): Origin | null {
  if (!isAddress(from) || clock === null) return null;
  const { origin, pathname } = new URL(from);
  return { source: origin + pathname, pulledAt: clock, pulled: { read, repaired, refused } };
}
