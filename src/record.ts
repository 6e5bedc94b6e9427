/** The shape of a raw record, before anything in it is believed: its fields, its position, its id, and how to show it. */

import { cleanLabel } from "./text.js";

export type Fields = Readonly<Record<string, unknown>>;

/** A record as fields, wherever its position and id stood. */
export interface Flat {
  readonly fields: Fields;
  readonly lon: unknown;
  readonly lat: unknown;
  readonly id: unknown;
}

/** A GeoJSON Feature, or a flat object: CSV row, JSON record. */
export function flatten(record: unknown): Flat | null {
  if (!isObject(record)) return null;
  if (record["type"] !== "Feature" || !("geometry" in record)) {
    return { fields: record, lon: record["longitude"], lat: record["latitude"], id: record["id"] };
  }
  const { geometry, properties } = record;
  const coordinates =
    isObject(geometry) && geometry["type"] === "Point" && Array.isArray(geometry["coordinates"])
      ? geometry["coordinates"]
      : [];
  const fields = isObject(properties) ? properties : {};
  return { fields, lon: coordinates[0], lat: coordinates[1], id: fields["id"] ?? record["id"] };
}

/** The known service puts the commune in `region` and has no other key for either. */
export function isServiceLayout(fields: Fields): boolean {
  return "type_hebergement" in fields && !("commune" in fields);
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A short, one-line picture of a record for a report. */
export function describe(record: unknown): string {
  const flat = flatten(record);
  const shown = { id: flat?.id ?? flat?.fields["url"], name: flat?.fields["name"] };
  const text =
    shown.id === undefined && shown.name === undefined
      ? (JSON.stringify(record) ?? String(record))
      : JSON.stringify(shown);
  return cleanLabel(text).slice(0, 160);
}

/** The digits of an id, or of the integer at the end of the address; empty where there are none. */
export function idDigits(id: unknown, url: string): string {
  return String(id ?? "").trim() || (/=(\d+)$/.exec(url.trim())?.[1] ?? "");
}

/** What tells a record of a service from another, and from its copies in other answers. */
export interface RecordIdentity {
  /** null where it has none that a number can hold. */
  readonly id: number | null;
  readonly lon: number | null;
  readonly lat: number | null;
  readonly slug: string;
  /** Whatever it calls its region. */
  readonly regionWord: string;
  readonly comment: string;
}

/** Reads no more of a record than is needed to put several answers together. */
export function recordIdentity(record: unknown): RecordIdentity {
  const flat = flatten(record);
  const words = (key: string): string => {
    const value = flat?.fields[key];
    return typeof value === "string" ? value : "";
  };
  const degrees = (value: unknown): number | null =>
    typeof value === "number" && Number.isFinite(value) ? value : null;
  const digits = flat === null ? "" : idDigits(flat.id, words("url"));
  return {
    id: /^\d{1,10}$/.test(digits) ? Number(digits) : null,
    lon: degrees(flat?.lon),
    lat: degrees(flat?.lat),
    slug: words("type_hebergement"),
    regionWord: words("region"),
    comment: words("commentaire"),
  };
}
