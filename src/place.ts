/** A place, a box, coordinates as numbers and as text, and the canonical order. */

import type { Category } from "./taxonomy.js";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One refuge, hut, shelter or ruin, as everything behind `parsePlace` knows it. */
export interface Place {
  /** Integer, 1 or more, unique in its source. */
  readonly id: number;
  readonly name: string;
  /** Decimal degrees east, WGS84, at most 7 decimals. */
  readonly lon: number;
  /** Decimal degrees north, WGS84, at most 7 decimals. */
  readonly lat: number;
  /** null where the source names none that is known. */
  readonly category: Category | null;
  /** The slug that existing clients read; the source's own words where the category is unknown. */
  readonly categorySlug: string;
  /** The registered region (NFC), the one that requests filter on; null where none is known. */
  readonly region: string | null;
  readonly commune: string;
  readonly url: string;
  readonly description: string;
  readonly comment: string;
  readonly photo: string;
  /** What the source wrote; null where it wrote nothing. */
  readonly altitudeText: string | null;
  /** Metres above sea level, where the text says it unambiguously. */
  readonly altitude: number | null;
  readonly summerText: string;
  /** Sleeping places in summer, where the text says it unambiguously. */
  readonly summerCapacity: number | null;
  readonly winterText: string;
  readonly winterCapacity: number | null;
  /** Whatever else the source sent, by key. Every place of a store has the same keys, in the same order. */
  readonly extra: readonly (readonly [key: string, value: Json])[];
}

/** What a data set says of itself; it comes from the source and goes into every file. */
export interface Provenance {
  readonly title: string;
  readonly attribution: string;
  /** An http(s) address, or words. */
  readonly license: string;
  /** When the data were pulled or compiled: ISO 8601, UTC, whole seconds. */
  readonly date: string;
}

/** Decimal degrees, WGS84, edges included. West never exceeds east: a box does not cross the antimeridian. */
export interface BBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Coordinates are kept to this many decimals: 1e-7 degree is about 1 cm. */
export const COORDINATE_DECIMALS = 7;
const COORDINATE_SCALE = 10 ** COORDINATE_DECIMALS;

/** A coordinate in whole units of 1e-7 degree: it fits 32 bits and compares exactly. */
export function coordinateUnits(degrees: number): number {
  return Math.round(degrees * COORDINATE_SCALE);
}

/** Degrees of a coordinate in units of 1e-7 degree; the nearest double, never -0. */
export function unitsToDegrees(units: number): number {
  return units / COORDINATE_SCALE + 0;
}

/** Rounded to 7 decimals, never -0. */
export function roundCoordinate(degrees: number): number {
  return unitsToDegrees(coordinateUnits(degrees));
}

/** A number as plain decimals, never `-0`, `decimals` at most; with an exponent only from 1e21 on. */
export function formatDecimal(value: number, decimals = COORDINATE_DECIMALS): string {
  const shortest = String(value);
  const text = shortest.includes("e-") ? value.toFixed(decimals).replace(/\.?0+$/, "") : shortest;
  return text === "-0" ? "0" : text;
}

// 2 x 26 bits: the key stays an exact double, a cell is about 0.6 m x 0.3 m.
const HILBERT_BITS = 26;
const HILBERT_SIDE = 2 ** HILBERT_BITS;

/**
 * Position on a Hilbert curve over the whole globe, an integer below 2^52. Neighbours on the curve are neighbours on
 * the ground, so that a box is a few contiguous runs of the canonical order (ascending key, ties by id).
 */
export function hilbertKey(lon: number, lat: number): number {
  let x = Math.min(HILBERT_SIDE - 1, Math.floor(((lon + 180) / 360) * HILBERT_SIDE));
  let y = Math.min(HILBERT_SIDE - 1, Math.floor(((lat + 90) / 180) * HILBERT_SIDE));
  let key = 0;
  for (let bit = HILBERT_SIDE / 2; bit >= 1; bit /= 2) {
    const right = (x & bit) === 0 ? 0 : 1;
    const upper = (y & bit) === 0 ? 0 : 1;
    key = key * 4 + ((3 * right) ^ upper);
    if (upper === 0) {
      if (right === 1) {
        x = HILBERT_SIDE - 1 - x;
        y = HILBERT_SIDE - 1 - y;
      }
      [x, y] = [y, x];
    }
  }
  return key;
}
