/** What the members of a document say of its data. */

import type { Provenance } from "../place.js";

/** The members of our GeoJSON exports, and of a file's companion, that describe the data. */
export function pickProvenance(members: Readonly<Record<string, unknown>>): Partial<Provenance> {
  const { title, attribution, license, date = members["timeStamp"] } = members;
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof attribution === "string" && { attribution }),
    ...(typeof license === "string" && { license }),
    ...(typeof date === "string" && !Number.isNaN(Date.parse(date)) && { date: isoSeconds(new Date(date)) }),
  };
}

/** ISO 8601, UTC, whole seconds. */
export function isoSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
