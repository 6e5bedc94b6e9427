/** What the members of a document say of its data. */

import type { Provenance } from "../place.js";

/** The members of our GeoJSON exports, and of a file's companion, that describe the data; a date that is none is left out. */
export function pickProvenance(members: Readonly<Record<string, unknown>>): Partial<Provenance> {
  const { title, attribution, license } = members;
  const date = parseDate(saidDate(members));
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof attribution === "string" && { attribution }),
    ...(typeof license === "string" && { license }),
    ...(date !== null && { date }),
  };
}

/** What stands where the data's date is expected; undefined where nothing does. */
export function saidDate(members: Readonly<Record<string, unknown>>): unknown {
  return members["date"] ?? members["timeStamp"] ?? undefined;
}

const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,]\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * A date and time of ISO 8601 in UTC and whole seconds; null for anything else. Without an offset it is UTC: on every
 * machine the same text is the same moment. A day that no calendar has is none.
 */
export function parseDate(value: unknown): string | null {
  const match = typeof value === "string" ? DATE.exec(value.trim()) : null;
  if (match === null) return null;
  const [, day = "", minute = "00:00", second = "00", offset = "Z"] = match;
  const local = `${day}T${minute}:${second}`;
  const isReal = Date.parse(`${local}Z`) >= 0 && new Date(`${local}Z`).toISOString().startsWith(local);
  const at = Date.parse(local + offset.toUpperCase());
  return isReal && at >= 0 ? isoSeconds(new Date(at)) : null;
}

/** ISO 8601, UTC, whole seconds. */
export function isoSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
