/** Places -> vector tiles (MVT 2.1, one layer): every place in one tile of each zoom, thinned by importance only where a tile grows too heavy. */

import { fromGeojsonVt } from "@maplibre/vt-pbf";
import GeoJSONVT from "geojson-vt";
import type { Place } from "../place.js";
import { byImportance } from "../taxonomy.js";

export const TILE_LAYER = "places";
/** Default of the largest zoom: about two metres a unit, deep enough for one place a tile. */
export const DEFAULT_MAX_ZOOM = 12;
/** From this zoom on a tile carries every field; below only what a dot needs. */
export const FULL_FIELDS_ZOOM = 8;

/** What a tile tells of a place. */
export type TilePlace = Pick<
  Place,
  "id" | "name" | "lon" | "lat" | "category" | "region" | "altitude" | "summerCapacity"
>;

/** Only that: the texts of a hundred thousand places would be kept for nothing. */
export function tilePlace(place: Place): TilePlace {
  const { id, name, lon, lat, category, region, altitude, summerCapacity } = place;
  return { id, name, lon, lat, category, region, altitude, summerCapacity };
}

export interface TileCoordinate {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export interface Tile extends TileCoordinate {
  /** Uncompressed MVT. */
  readonly bytes: Uint8Array;
  /** Places that were left out to stay below the limit. */
  readonly leftOut: number;
}

const defaults = {
  bytes: 500_000, // a heavier tile is thinned
  levels: 4, // zooms made at a time: memory is that of so many levels of one cell
  extent: 4096, // units along a tile's side
  buffer: 64, // units beyond its edge that it repeats, so that no symbol is cut
} as const;

export const THINNING_RULE = `A tile of more than ${defaults.bytes / 1000} KB keeps the most important places only: type_lieu ${byImportance.slice(0, -1).join(", ")}, then by id.`;

/** Every tile that holds a place, from zoom 0 to `maxZoom`, in an order that depends on the places alone. */
export function tilePlaces(
  places: readonly TilePlace[],
  maxZoom: number = DEFAULT_MAX_ZOOM,
  mostBytes: number = defaults.bytes,
): Generator<Tile> {
  return tilesBelow({ z: 0, x: 0, y: 0 }, places.map(project), maxZoom, mostBytes);
}

/** A place and where it is on the unit square of Web Mercator. */
interface Projected {
  readonly place: TilePlace;
  readonly x: number;
  readonly y: number;
}

function project(place: TilePlace): Projected {
  const sine = Math.sin((place.lat * Math.PI) / 180);
  const y = 0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI;
  return { place, x: place.lon / 360 + 0.5, y: Math.min(1, Math.max(0, y)) };
}

/** The tiles of a cell, itself included only at zoom 0: a few levels at a time, then cell by cell, so that memory stays small. */
function* tilesBelow(
  root: TileCoordinate,
  points: readonly Projected[],
  maxZoom: number,
  mostBytes: number,
): Generator<Tile> {
  const last = Math.min(maxZoom, root.z + defaults.levels);
  const cells = yield* levelsBelow(root, points, last, mostBytes);
  if (last === maxZoom) return;
  for (const cell of cells)
    yield* tilesBelow(
      cell,
      points.filter((point) => isNear(point, cell)),
      maxZoom,
      mostBytes,
    );
}

/** A few levels, from an index that is dropped before the next one is made; gives the cells of the last level. */
function* levelsBelow(
  root: TileCoordinate,
  points: readonly Projected[],
  last: number,
  mostBytes: number,
): Generator<Tile, TileCoordinate[]> {
  const index = indexOf(points, last);
  const inCell = index.tileCoords.filter(
    ({ z, x, y }) =>
      (z > root.z || z === 0) && x >> (z - root.z) === root.x && y >> (z - root.z) === root.y && z <= last,
  );
  const cells: TileCoordinate[] = [];
  for (const coordinate of inCell.sort(byCoordinate)) {
    const tile = index.getTileRaw(coordinate.z, coordinate.x, coordinate.y);
    if (tile === null || tile.features.length === 0) continue;
    if (coordinate.z === last) cells.push(coordinate);
    const spots = tile.features.flatMap((feature): Spot[] => {
      const point = points[Number(feature.id)];
      return feature.type === 4 && point !== undefined
        ? [{ place: point.place, x: feature.x, y: feature.y }]
        : [];
    });
    yield { ...coordinate, ...encodeWithin(spots, coordinate.z, mostBytes) };
  }
  return cells;
}

function byCoordinate(a: TileCoordinate, b: TileCoordinate): number {
  return a.z - b.z || a.x - b.x || a.y - b.y;
}

/** Every tile down to `maxZoom`; features are known by their place in the list. */
function indexOf(points: readonly Projected[], maxZoom: number): GeoJSONVT {
  const features = points.map(({ place }, id) => ({
    type: "Feature" as const,
    id,
    geometry: { type: "Point" as const, coordinates: [place.lon, place.lat] },
    properties: null,
  }));
  const { extent, buffer } = defaults;
  return new GeoJSONVT(
    { type: "FeatureCollection", features },
    { maxZoom, indexMaxZoom: maxZoom, indexMaxPoints: 0, extent, buffer },
  );
}

/** Whether a point is in a tile or its buffer; the world is round. */
function isNear({ x, y }: Projected, tile: TileCoordinate): boolean {
  const side = 2 ** tile.z;
  const margin = (2 * defaults.buffer) / defaults.extent;
  const isBeside = (distance: number): boolean => distance >= -margin && distance <= 1 + margin;
  const across = x * side - tile.x;
  return isBeside(y * side - tile.y) && [across, across - side, across + side].some(isBeside);
}

/** A place in units of its tile. */
interface Spot {
  readonly place: TilePlace;
  readonly x: number;
  readonly y: number;
}

function encodeWithin(
  spots: readonly Spot[],
  zoom: number,
  mostBytes: number,
): Pick<Tile, "bytes" | "leftOut"> {
  let bytes = encode(spots, zoom);
  if (bytes.length <= mostBytes) return { bytes, leftOut: 0 };
  const ranked = [...spots].sort(byRank);
  let kept = spots.length;
  while (bytes.length > mostBytes) {
    kept = Math.min(kept - 1, Math.floor((kept * mostBytes) / bytes.length));
    const chosen = new Set(ranked.slice(0, kept));
    bytes = encode(
      spots.filter((spot) => chosen.has(spot)),
      zoom,
    );
  }
  return { bytes, leftOut: spots.length - kept };
}

function byRank({ place: a }: Spot, { place: b }: Spot): number {
  return byImportance.indexOf(a.category) - byImportance.indexOf(b.category) || a.id - b.id;
}

function encode(spots: readonly Spot[], zoom: number): Uint8Array {
  const features = spots.map(({ place, x, y }) => ({
    id: place.id,
    type: 1 as const,
    geometry: [[x, y]] as [number, number][],
    tags: fieldsOf(place, zoom),
  }));
  return fromGeojsonVt({ [TILE_LAYER]: { features } }, { version: 2, extent: defaults.extent });
}

/** Unknown values are left out: MVT knows no null. */
function fieldsOf(place: TilePlace, zoom: number): Record<string, string | number> {
  const { id, name, category, altitude, summerCapacity, region } = place;
  const dot = { id, ...(category !== null && { type_lieu: category }) };
  if (zoom < FULL_FIELDS_ZOOM) return dot;
  return {
    ...dot,
    name,
    ...(altitude !== null && { altitude_m: altitude }),
    ...(summerCapacity !== null && { capacity_summer: summerCapacity }),
    ...(region !== null && { region }),
  };
}
