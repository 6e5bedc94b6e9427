/** Boxes that hold about so many of the made-up places, spread over the places: the same for the same seed. */

import { randomNumbers, syntheticRows } from "./synthetic.js";

const BOXES = 64; // different ones for each size, so that no cache of one answer helps

/** Values of the bbox parameter, each with about `wanted` of `count` places inside. */
export function boxesWith(wanted: number, count: number): string[] {
  const random = randomNumbers(wanted);
  const points = samplePoints(count);
  const scale = count / points.length;
  return Array.from({ length: BOXES }, () => {
    const middle = points[Math.floor(random() * points.length)] as Point;
    return around(middle, points, wanted / scale);
  });
}

interface Point {
  readonly lon: number;
  readonly lat: number;
}

const SAMPLE = 100_000; // places are enough to know how dense an area is
const samples = new Map<number, Point[]>();

function samplePoints(count: number): Point[] {
  const size = Math.min(count, SAMPLE);
  let points = samples.get(size);
  if (points === undefined) {
    points = [...syntheticRows({ count: size })].map((row) => ({ lon: Number(row[2]), lat: Number(row[3]) }));
    samples.set(size, points);
  }
  return points;
}

/** The box, as wide as it is high on the ground, that holds the nearest points: the k-th distance is its half width. */
function around({ lon, lat }: Point, points: readonly Point[], wanted: number): string {
  const distances = Float64Array.from(points, (point) =>
    Math.max(Math.abs(point.lon - lon) * 0.74, Math.abs(point.lat - lat)),
  ).sort();
  const index = Math.min(distances.length - 1, Math.max(0, Math.ceil(wanted) - 1));
  // Between the samples: a box for fewer places than one sample stands for.
  const half = wanted >= 1 ? (distances[index] as number) : (distances[1] as number) * Math.sqrt(wanted / 2);
  const wide = half / 0.74;
  return [lon - wide, lat - half, lon + wide, lat + half].map((value) => value.toFixed(6)).join(",");
}
