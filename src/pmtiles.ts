/** A PMTiles v3 archive of tiles that are on disk: one file, clustered, gzip inside; the same tiles give the same bytes. */

import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { FileForm } from "./compress.js";
import type { BBox } from "./place.js";

/** A gzipped tile, where it stands and how long it is. */
export interface ArchivedTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly path: string;
  readonly bytes: number;
}

export interface ArchiveFacts {
  readonly bbox: BBox;
  readonly center: readonly [lon: number, lat: number, zoom: number];
  readonly maxZoom: number;
  /** Goes in as JSON: name, attribution, vector_layers. */
  readonly metadata: unknown;
}

interface Entry {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
  /** 1 = a tile, 0 = a leaf directory. */
  readonly run: 0 | 1;
}

const HEADER_BYTES = 127;
const ROOT_BYTES = 16_384 - HEADER_BYTES; // header and root directory come in one first request
const LEAF_ENTRIES = 4096;

/** Writes the archive; specification: PMTiles version 3. */
export function writePmtiles(path: string, tiles: readonly ArchivedTile[], facts: ArchiveFacts): FileForm {
  const sorted = tiles
    .map((tile) => ({ ...tile, id: tileId(tile.z, tile.x, tile.y) }))
    .sort((a, b) => a.id - b.id);
  let offset = 0;
  const entries = sorted.map(({ id, bytes }): Entry => {
    const entry: Entry = { id, offset, length: bytes, run: 1 };
    offset += bytes;
    return entry;
  });
  const { root, leaves } = directories(entries);
  const metadata = gzip(Buffer.from(JSON.stringify(facts.metadata)));
  const header = headerOf(facts, [root.length, metadata.length, leaves.length, offset], entries.length);
  const hash = createHash("sha256");
  const file = openSync(path, "wx");
  let bytes = 0;
  try {
    const write = (part: Uint8Array): void => {
      hash.update(part);
      for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
      bytes += part.length;
    };
    for (const part of [header, root, metadata, leaves]) write(part);
    for (const tile of sorted) write(readFileSync(tile.path));
  } finally {
    closeSync(file);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Gzip that is the same on every system: byte 9 names the operating system (RFC 1952), here "unknown". */
export function gzip(bytes: Uint8Array): Buffer {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255;
  return packed;
}

/** Position of a tile on the Hilbert curves of all zooms, one behind the other. */
export function tileId(z: number, x: number, y: number): number {
  let id = (4 ** z - 1) / 3;
  let [column, row] = [x, y];
  for (let side = 2 ** (z - 1); side >= 1; side /= 2) {
    const right = (column & side) > 0 ? 1 : 0;
    const lower = (row & side) > 0 ? 1 : 0;
    id += side * side * ((3 * right) ^ lower);
    if (lower === 0) {
      if (right === 1) [column, row] = [side - 1 - column, side - 1 - row];
      [column, row] = [row, column];
    }
  }
  return id;
}

/** One root directory where it fits; else a root of leaves. */
function directories(entries: readonly Entry[]): { readonly root: Buffer; readonly leaves: Buffer } {
  const root = directory(entries);
  if (root.length <= ROOT_BYTES) return { root, leaves: Buffer.alloc(0) };
  for (let size = LEAF_ENTRIES; ; size *= 2) {
    const leaves: Buffer[] = [];
    const pointers: Entry[] = [];
    let offset = 0;
    for (let start = 0; start < entries.length; start += size) {
      const leaf = directory(entries.slice(start, start + size));
      pointers.push({ id: entries[start]?.id ?? 0, offset, length: leaf.length, run: 0 });
      leaves.push(leaf);
      offset += leaf.length;
    }
    const rootOfLeaves = directory(pointers);
    if (rootOfLeaves.length <= ROOT_BYTES) return { root: rootOfLeaves, leaves: Buffer.concat(leaves) };
  }
}

/** Columns of varints: ids as differences, runs, lengths, offsets (0 = right behind the one before). */
function directory(entries: readonly Entry[]): Buffer {
  const numbers = [
    entries.length,
    ...entries.map(({ id }, at) => id - (entries[at - 1]?.id ?? 0)),
    ...entries.map(({ run }) => run),
    ...entries.map(({ length }) => length),
    ...entries.map(({ offset }, at) => {
      const before = entries[at - 1];
      return before !== undefined && before.offset + before.length === offset ? 0 : offset + 1;
    }),
  ];
  return gzip(Buffer.from(numbers.flatMap(varint)));
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return bytes;
}

function headerOf(
  { bbox, center, maxZoom }: ArchiveFacts,
  lengths: readonly [root: number, metadata: number, leaves: number, data: number],
  count: number,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("PMTiles", "latin1");
  header.writeUInt8(3, 7);
  let offset = HEADER_BYTES;
  for (const [at, length] of lengths.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + 16 * at);
    header.writeBigUInt64LE(BigInt(length), 16 + 16 * at);
    offset += length;
  }
  // Addressed tiles, entries, contents: no tile is repeated.
  for (const at of [72, 80, 88]) header.writeBigUInt64LE(BigInt(count), at);
  // Clustered; directories and tiles in gzip; MVT; zooms.
  for (const [at, value] of [1, 2, 2, 1, 0, maxZoom].entries()) header.writeUInt8(value, 96 + at);
  const degrees = [bbox.west, bbox.south, bbox.east, bbox.north];
  for (const [at, value] of degrees.entries()) header.writeInt32LE(Math.round(value * 1e7), 102 + 4 * at);
  header.writeUInt8(center[2], 118);
  header.writeInt32LE(Math.round(center[0] * 1e7), 119);
  header.writeInt32LE(Math.round(center[1] * 1e7), 123);
  return header;
}
