/** The symbols as PNG, drawn by this file: 64 pixels square, eight small files, no native library for them. */

import { crc32, deflateSync } from "node:zlib";
import { type Stroke, SYMBOL_SIDE, symbolStrokes } from "./symbols.js";
import type { Category } from "./taxonomy.js";

const SIZE = 64; // pixels: twice what Google Earth draws, for fine screens
const SAMPLES = 4; // per pixel and direction: 16 shades at an edge

const drawn = new Map<Category | null, Buffer>();

/** A category's symbol as a PNG file, 64 x 64 pixels with transparency. */
export function symbolPng(category: Category | null): Buffer {
  const known = drawn.get(category);
  if (known !== undefined) return known;
  const png = encodePng(SIZE, SIZE, rasterise(symbolStrokes(category), SIZE));
  drawn.set(category, png);
  return png;
}

/** Red, green, blue, alpha of `size` x `size` pixels, row by row. */
function rasterise(strokes: readonly Stroke[], size: number): Buffer {
  const side = size * SAMPLES;
  const painted = new Int32Array(side * side).fill(-1);
  for (const stroke of strokes) paint(stroke, painted, side);
  const pixels = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) pixels.set(average(painted, side, x, y), (y * size + x) * 4);
  }
  return pixels;
}

/** Sets the samples whose centres a stroke covers to its colour, as 0xRRGGBB. */
function paint({ points, isArea, width, colour }: Stroke, painted: Int32Array, side: number): void {
  const scale = side / SYMBOL_SIDE;
  const value = Number.parseInt(colour.slice(1), 16);
  const radius = (width / 2) * scale;
  const ends = points.map(([x, y]) => ({ x: x * scale, y: y * scale }));
  const edges = ends
    .map((from, index) => ({ from, to: ends[index + 1] ?? (isArea ? ends[0] : undefined) ?? from }))
    .filter((_, index) => isArea || index === 0 || index < ends.length - 1);
  const xs = ends.map(({ x }) => x);
  const ys = ends.map(({ y }) => y);
  const last = side - 1;
  const right = Math.min(last, Math.ceil(Math.max(...xs) + radius));
  const bottom = Math.min(last, Math.ceil(Math.max(...ys) + radius));
  for (let y = Math.max(0, Math.floor(Math.min(...ys) - radius)); y <= bottom; y++) {
    for (let x = Math.max(0, Math.floor(Math.min(...xs) - radius)); x <= right; x++) {
      const at = { x: x + 0.5, y: y + 0.5 };
      const isCovered = (isArea && isInside(at, edges)) || edges.some((edge) => distance(at, edge) <= radius);
      if (isCovered) painted[y * side + x] = value;
    }
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Edge {
  readonly from: Point;
  readonly to: Point;
}

function distance(at: Point, { from, to }: Edge): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : ((at.x - from.x) * dx + (at.y - from.y) * dy) / squared;
  const share = Math.min(1, Math.max(0, along));
  const [x, y] = [at.x - from.x - share * dx, at.y - from.y - share * dy];
  return Math.sqrt(x * x + y * y);
}

/** Whether a ray to the right crosses an odd number of edges. */
function isInside(at: Point, edges: readonly Edge[]): boolean {
  let isOdd = false;
  for (const { from, to } of edges) {
    if (from.y > at.y === to.y > at.y) continue;
    if (at.x < from.x + ((at.y - from.y) / (to.y - from.y)) * (to.x - from.x)) isOdd = !isOdd;
  }
  return isOdd;
}

/** Mean colour of a pixel's painted samples, and how many of them are painted as alpha. */
function average(painted: Int32Array, side: number, x: number, y: number): number[] {
  const sums = [0, 0, 0];
  let count = 0;
  for (let row = y * SAMPLES; row < (y + 1) * SAMPLES; row++) {
    for (const value of painted.subarray(row * side + x * SAMPLES, row * side + (x + 1) * SAMPLES)) {
      if (value === -1) continue;
      count++;
      for (const [index, shift] of [16, 8, 0].entries())
        sums[index] = (sums[index] ?? 0) + ((value >> shift) & 255);
    }
  }
  if (count === 0) return [0, 0, 0, 0];
  return [...sums.map((sum) => Math.round(sum / count)), Math.round((count * 255) / SAMPLES ** 2)];
}

/** PNG (ISO/IEC 15948): 8 bits, colour type 6 (RGBA), no filter. */
function encodePng(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  const rows: Buffer[] = [];
  for (let y = 0; y < height; y++)
    rows.push(Buffer.of(0), pixels.subarray(y * width * 4, (y + 1) * width * 4));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "ascii"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
