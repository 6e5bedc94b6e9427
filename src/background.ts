/** The map's own background: land, coast, borders and country names around the places, cut from Natural Earth (public domain). */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Feature, FeatureCollection, Position } from "geojson";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import type { BBox } from "./place.js";

export const BACKGROUND = "background.json";

type Atlas = Topology<{ readonly countries: GeometryCollection<{ readonly name?: string }> }>;

const limits = {
  fine: 12, // degrees across, up to which the 1:10m drawing is used
  middle: 50, // up to which 1:50m is; beyond it, 1:110m
  labelMargin: 0.12, // of the box's size: country names stand near the places, where a visitor looks
  margin: 0.8, // of the box's size, on each side
  leastMargin: 2.5, // degrees
  mostMargin: 12, // degrees
  decimals: 4, // of a degree: about 10 m, finer than the drawing
} as const;

/** The box that the background covers, and beyond which the map does not go: the places' own with a margin. */
export function backgroundBox(bbox: BBox | null): BBox {
  const { west, south, east, north } = bbox ?? { west: -5, south: 40, east: 6, north: 46 };
  const margin = Math.min(
    limits.mostMargin,
    Math.max(limits.leastMargin, limits.margin * Math.max(east - west, north - south)),
  );
  return grown({ west, south, east, north }, margin);
}

/** A box with a margin in degrees, as far as the map reaches. */
function grown({ west, south, east, north }: BBox, margin: number): BBox {
  return {
    west: Math.max(-180, west - margin),
    south: Math.max(-85, south - margin),
    east: Math.min(180, east + margin),
    north: Math.min(85, north + margin),
  };
}

/** GeoJSON with `kind` land, coast, border or country (a point with a `name`). */
export function cutBackground(bbox: BBox | null): FeatureCollection {
  const box = backgroundBox(bbox);
  const atlas = readAtlas(Math.max(box.east - box.west, box.north - box.south));
  const near = atlas.objects.countries.geometries.flatMap((country) => {
    const whole = feature(atlas, country);
    const cut = whole.type === "Feature" ? clipCountry(whole.geometry, box) : [];
    return cut.length === 0 ? [] : [{ country, cut, name: nameOf(country.properties) }];
  });
  const land = near.map(({ cut }) => drawn("land", { type: "MultiPolygon", coordinates: cut }));
  const close = bbox === null ? box : grown(bbox, limits.labelMargin * (bbox.east - bbox.west));
  const labels = near.flatMap(({ country, name }) => {
    const whole = feature(atlas, country);
    const cut = whole.type === "Feature" ? clipCountry(whole.geometry, close) : [];
    const largest = cut.map((rings) => centroid(rings[0] ?? [])).sort((a, b) => b.size - a.size)[0];
    if (largest === undefined) return [];
    return [drawn("country", { type: "Point", coordinates: largest.at }, { name, size: largest.size })];
  });
  // A line that two countries share is a border; any other is a coast.
  const lines = (kind: string, isWanted: (a: unknown, b: unknown) => boolean): Feature => {
    const drawing = mesh(
      atlas,
      { type: "GeometryCollection", geometries: near.map(({ country }) => country) },
      isWanted,
    );
    return drawn(kind, {
      type: "MultiLineString",
      coordinates: drawing.coordinates.flatMap((line) => clipLine(line, box)),
    });
  };
  const coast = lines("coast", (a, b) => a === b);
  const border = lines("border", (a, b) => a !== b);
  return { type: "FeatureCollection", features: [...land, coast, border, ...labels] };
}

function nameOf(properties: { readonly name?: string } | undefined): string {
  return properties?.name ?? "";
}

/** Polygons of a country, as far as they are in the box. */
function clipCountry(geometry: Feature["geometry"], box: BBox): Position[][][] {
  const polygons =
    geometry.type === "Polygon"
      ? [geometry.coordinates]
      : geometry.type === "MultiPolygon"
        ? geometry.coordinates
        : [];
  return polygons
    .filter(([outer = []]) => mayMeet(outer, box))
    .map((rings) => rings.map((ring) => clipRing(ring, box)).filter((ring) => ring.length > 3))
    .filter((rings) => rings.length > 0);
}

function readAtlas(degrees: number): Atlas {
  const scale = degrees <= 2 * limits.fine ? "10m" : degrees <= limits.middle ? "50m" : "110m";
  const path = createRequire(import.meta.url).resolve(`world-atlas/countries-${scale}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as Atlas;
}

function drawn(
  kind: string,
  geometry: Feature["geometry"],
  properties: Record<string, string | number> = {},
): Feature {
  return { type: "Feature", properties: { kind, ...properties }, geometry };
}

/** Whether the box around a ring meets another. */
function mayMeet(ring: readonly Position[], { west, south, east, north }: BBox): boolean {
  let [least, most, lowest, highest] = [180, -180, 90, -90];
  for (const [lon = 0, lat = 0] of ring) {
    if (lon < least) least = lon;
    if (lon > most) most = lon;
    if (lat < lowest) lowest = lat;
    if (lat > highest) highest = lat;
  }
  return least <= east && most >= west && lowest <= north && highest >= south;
}

/** The four sides of a box: which coordinate they bound, where, and on which side the inside lies. */
function sidesOf(box: BBox): { readonly axis: 0 | 1; readonly edge: number; readonly sign: 1 | -1 }[] {
  return [
    { axis: 0, edge: box.west, sign: 1 },
    { axis: 0, edge: box.east, sign: -1 },
    { axis: 1, edge: box.south, sign: 1 },
    { axis: 1, edge: box.north, sign: -1 },
  ];
}

/** Sutherland-Hodgman: what of a ring is in the box; what leaves it runs along its edge. */
function clipRing(ring: readonly Position[], box: BBox): Position[] {
  let points = ring.slice(0, -1);
  for (const { axis, edge, sign } of sidesOf(box)) {
    const isIn = (point: Position): boolean => ((point[axis] ?? 0) - edge) * sign >= 0;
    points = points.flatMap((point, at) => {
      const before = points.at(at - 1) ?? point;
      const crossing = isIn(point) === isIn(before) ? [] : [crossingOf(before, point, axis, edge)];
      return isIn(point) ? [...crossing, point] : crossing;
    });
  }
  const closed = points.map(round);
  return closed[0] === undefined ? [] : [...closed, closed[0]];
}

function crossingOf(a: Position, b: Position, axis: 0 | 1, edge: number): Position {
  const [ax = 0, ay = 0] = a;
  const [bx = 0, by = 0] = b;
  const share = (edge - (a[axis] ?? 0)) / ((b[axis] ?? 0) - (a[axis] ?? 0));
  return [ax + share * (bx - ax), ay + share * (by - ay)];
}

/** The runs of a line whose points are in the box, each with one point beyond on either side. */
function clipLine(line: readonly Position[], box: BBox): Position[][] {
  const isIn = ([lon = 0, lat = 0]: Position): boolean =>
    lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north;
  const runs: Position[][] = [];
  let run: Position[] = [];
  for (const [at, point] of line.entries()) {
    const after = line[at + 1];
    const before = line[at - 1];
    if (isIn(point) || (before !== undefined && isIn(before)) || (after !== undefined && isIn(after)))
      run.push(round(point));
    else if (run.length > 0) run = runs.push(run) ? [] : run;
  }
  return [...runs, run].filter(({ length }) => length > 1);
}

function round(point: Position): Position {
  return point.slice(0, 2).map((degrees) => Number(degrees.toFixed(limits.decimals)) + 0);
}

/** Middle of a ring, weighted by area, and its size in square degrees. */
function centroid(ring: readonly Position[]): { readonly at: Position; readonly size: number } {
  let [twiceArea, x, y] = [0, 0, 0];
  for (const [index, [ax = 0, ay = 0]] of ring.entries()) {
    const [bx = 0, by = 0] = ring[index + 1] ?? ring[0] ?? [];
    const cross = ax * by - bx * ay;
    twiceArea += cross;
    x += (ax + bx) * cross;
    y += (ay + by) * cross;
  }
  const at = twiceArea === 0 ? (ring[0] ?? [0, 0]) : [x / (3 * twiceArea), y / (3 * twiceArea)];
  return { at: round(at), size: Number(Math.abs(twiceArea / 2).toFixed(3)) };
}
