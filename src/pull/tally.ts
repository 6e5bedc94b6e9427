/** Records through the parser into the store, and the count of what became of each. */

import type { createPlaceParser, Sighting } from "../parse.js";
import type { Place } from "../place.js";
import type { Refusal, Repair } from "../repairs.js";

const LISTED = 1000; // refused records kept for the report; the counts are complete

/** Counts what `parse` makes of records; `add` says whether a place is the first of its id. */
export function createTally(
  parse: ReturnType<typeof createPlaceParser>,
  add: (place: Place, raw?: string) => boolean,
) {
  const repaired: Partial<Record<Repair, number>> = {};
  const refused: Partial<Record<Refusal, number>> = {};
  const refusals: { reason: Refusal; record: string }[] = [];
  let read = 0;
  let places = 0;
  const refuse = (reason: Refusal, record: string): void => {
    refused[reason] = (refused[reason] ?? 0) + 1;
    if (refusals.length < LISTED) refusals.push({ reason, record });
  };
  return {
    take: (record: unknown, sighting?: Sighting): void => {
      read++;
      const parsed = parse(record, sighting);
      // What a service sent is kept word for word: its layout says less than it holds.
      const raw = sighting === undefined ? undefined : JSON.stringify(record);
      if ("refused" in parsed) {
        refuse(parsed.refused, parsed.record);
      } else if (!add(parsed.place, raw)) {
        refuse("repeated id", `${parsed.place.id} ${parsed.place.name}`);
      } else {
        places++;
        for (const repair of parsed.repairs) repaired[repair] = (repaired[repair] ?? 0) + 1;
      }
    },
    read: () => read,
    counts: () => ({ read, places, repaired, refused, refusals }),
  };
}
