/** The position of a record: read as it stands, or refused. Nothing is guessed: a place that is not where the file says is a danger. */

import { type BBox, roundCoordinate } from "./place.js";
import { Refused } from "./repairs.js";

/** Foothills and coast included: where a swapped pair would land, and beyond which an audit asks. */
const PYRENEES: BBox = { west: -2.5, south: 41.5, east: 3.7, north: 43.9 };

/** Decimal degrees, WGS84, to 7 decimals, from numbers or plain decimal text. Throws Refused. */
export function parsePosition(rawLon: unknown, rawLat: unknown): { lon: number; lat: number } {
  const lon = parseDegrees(rawLon);
  const lat = parseDegrees(rawLat);
  if (lon === null || lat === null || (lon === 0 && lat === 0)) throw new Refused("bad coordinates");
  if (!isInPyrenees(lon, lat) && isInPyrenees(lat, lon)) throw new Refused("coordinates look swapped");
  if (Math.abs(lon) > 180 || Math.abs(lat) > 90) throw new Refused("bad coordinates");
  return { lon: roundCoordinate(lon), lat: roundCoordinate(lat) };
}

/** Whether a position is in the Pyrenees, as generously as `PYRENEES`. */
export function isInPyrenees(lon: number, lat: number): boolean {
  return lon >= PYRENEES.west && lon <= PYRENEES.east && lat >= PYRENEES.south && lat <= PYRENEES.north;
}

/** Decimal degrees from a number or from its plain decimal text; a decimal comma is refused, not guessed. */
function parseDegrees(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}
