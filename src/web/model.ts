/** What the page knows of the places, and which of them a visitor asked for. Pure: no DOM, no network. */

import type { PageFacts } from "../build/page.js";
import type { IndexRow } from "../map/pageindex.js";
import type { BBox, Place } from "../place.js";
import type { Category, Language } from "../taxonomy.js";
import { distance } from "./coordinates.js";

export type { PageFacts } from "../build/page.js";

/** Decimal degrees, WGS84. */
export interface Position {
  readonly lon: number;
  readonly lat: number;
}

export interface PlaceEntry extends Position {
  readonly id: number;
  readonly name: string;
  readonly category: Category | null;
  readonly region: string | null;
  readonly commune: string;
  /** Metres. */
  readonly altitude: number | null;
  readonly summer: number | null;
  readonly winter: number | null;
  /** Name and commune as the search sees them. */
  readonly key: string;
}

export interface Choice {
  /** Categories that are shown; null among them is the unknown one. Empty = all. */
  readonly categories: ReadonlySet<Category | null>;
  readonly region: string | null;
  readonly search: string;
}

export const EVERYTHING: Choice = { categories: new Set(), region: null, search: "" };

/** Rows of the index as places. */
export function readIndex(rows: readonly IndexRow[]): PlaceEntry[] {
  return rows.map(([id, name, lon, lat, category, region, commune, altitude, summer, winter]) => {
    const key = keyOf(name, commune);
    return { id, name, lon, lat, category, region, commune, altitude, summer, winter, key };
  });
}

/** What the page knows of a place that was read from an export. */
export function entryOf(place: Place): PlaceEntry {
  const { id, name, lon, lat, category, region, commune, altitude, summerCapacity, winterCapacity } = place;
  const known = { id, name, lon, lat, category, region, commune, altitude, key: keyOf(name, commune) };
  return { ...known, summer: summerCapacity, winter: winterCapacity };
}

function keyOf(name: string, commune: string): string {
  return ` ${searchKey(name)} ${searchKey(commune)}`;
}

/** Letters and digits without accents, in lower case; everything else is a blank. */
export function searchKey(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/œ/g, "oe")
    .replace(/æ/g, "ae")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Whether a place is asked for: every word of the search begins a word of its name or commune. */
export function matcher(choice: Choice): (place: PlaceEntry) => boolean {
  const parts = searchKey(choice.search).split(" ").filter(Boolean);
  const { categories, region } = choice;
  return (place) =>
    (categories.size === 0 || categories.has(place.category)) &&
    (region === null || place.region === region) &&
    parts.every((part) => place.key.includes(` ${part}`));
}

/** Whether a position is in a box, edges included. */
export function isInside({ lon, lat }: Position, box: BBox): boolean {
  return lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north;
}

export interface Listed {
  readonly place: PlaceEntry;
  /** Metres from where the list is sorted from; null where it is sorted by name. */
  readonly metres: number | null;
}

/** Places by name, where there is no map and no position to be near to. */
export function byName(places: readonly PlaceEntry[], language: Language): Listed[] {
  const { compare } = new Intl.Collator(language);
  return [...places]
    .sort((a, b) => compare(a.name, b.name) || a.id - b.id)
    .map((place) => ({ place, metres: null }));
}

/** Places by distance, the nearest first. */
export function byDistance(places: readonly PlaceEntry[], from: Position): Listed[] {
  return places
    .map((place) => ({ place, metres: distance(from, place) }))
    .sort((a, b) => a.metres - b.metres || a.place.id - b.place.id);
}

/** Middle of a box. */
export function middleOf({ west, south, east, north }: BBox): Position {
  return { lon: (west + east) / 2, lat: (south + north) / 2 };
}

/** The one category that is chosen, "all", or "several", which one request cannot ask for. */
export function singleCategory(choice: Choice): Category | "all" | "several" {
  if (choice.categories.size === 0) return "all";
  const [only] = choice.categories;
  return choice.categories.size === 1 && only !== null && only !== undefined ? only : "several";
}

/** Places of a choice, counted per category and region as if that one choice were open. */
export function countCategories(places: readonly PlaceEntry[], choice: Choice): Map<Category | null, number> {
  const counts = new Map<Category | null, number>();
  const matches = matcher({ ...choice, categories: new Set() });
  for (const place of places)
    if (matches(place)) counts.set(place.category, (counts.get(place.category) ?? 0) + 1);
  return counts;
}

/** The id in an address: `#12` or `?id=12`. */
export function idOfAddress({ hash, search }: { hash: string; search: string }): number | null {
  const text = /^#(\d{1,10})$/.exec(hash)?.[1] ?? new URLSearchParams(search).get("id") ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

/** Path of a ready-made file. */
export function packPath(
  facts: PageFacts,
  region: string | null,
  category: Category | null,
  format: string,
): string {
  const slug = region === null ? "all" : (facts.regions.find(({ name }) => name === region)?.slug ?? "all");
  return `exports/${slug}/${category ?? "all"}.${format}`;
}
