/** GeoJSON (RFC 7946) with what a map needs and nothing more: id, name, category, altitude; 5 decimals, about a metre. */

import { formatDecimal, type Place } from "../place.js";
import type { Format } from "./format.js";
import { geojson } from "./geojson.js";

export const compactGeojson: Format = {
  ...geojson,
  // Without a box: rounded positions could lie outside the exact one.
  prologue: (about) => geojson.prologue({ ...about, bbox: null }),
  place,
};

const DECIMALS = 5; // 1e-5 degree of latitude is 1.1 m

function place({ id, name, lon, lat, category, altitude }: Place): string {
  const properties = { id, name, type_lieu: category, altitude_m: altitude };
  return `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[${short(lon)},${short(lat)}]},"properties":${JSON.stringify(properties)}}`;
}

function short(degrees: number): string {
  return formatDecimal(Number(degrees.toFixed(DECIMALS)));
}
