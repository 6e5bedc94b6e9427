/** Boxes around blocks of consecutive ranks: neighbours in canonical order are neighbours on the ground, so the boxes are small. */

import type { BBox } from "../place.js";

/** Ranks in a block: see the table of block sizes in the README. */
export const BLOCK_SIZE = 64;

export type NumberArray = Int32Array | Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** Edges of every block, in units of 1e-7 degree. */
export interface Blocks {
  readonly west: Int32Array;
  readonly east: Int32Array;
  readonly south: Int32Array;
  readonly north: Int32Array;
}

/** The exact box of each block of consecutive ranks. */
export function boxBlocks(lon: Int32Array, lat: Int32Array): Blocks {
  const count = Math.ceil(lon.length / BLOCK_SIZE);
  const blocks = {
    west: new Int32Array(count).fill(2 ** 31 - 1),
    east: new Int32Array(count).fill(-(2 ** 31)),
    south: new Int32Array(count).fill(2 ** 31 - 1),
    north: new Int32Array(count).fill(-(2 ** 31)),
  };
  for (let rank = 0; rank < lon.length; rank++) {
    const block = Math.floor(rank / BLOCK_SIZE);
    blocks.west[block] = Math.min(at(blocks.west, block), at(lon, rank));
    blocks.east[block] = Math.max(at(blocks.east, block), at(lon, rank));
    blocks.south[block] = Math.min(at(blocks.south, block), at(lat, rank));
    blocks.north[block] = Math.max(at(blocks.north, block), at(lat, rank));
  }
  return blocks;
}

/** Blocks whose boxes meet this one (units of 1e-7 degree, edges included), in rising order. */
export function blocksMeeting({ west, east, south, north }: Blocks, box: BBox): number[] {
  const meeting: number[] = [];
  for (let block = 0; block < west.length; block++) {
    if (at(east, block) < box.west || at(west, block) > box.east) continue;
    if (at(north, block) >= box.south && at(south, block) <= box.north) meeting.push(block);
  }
  return meeting;
}

/** An element that is known to be there. */
export function at(array: NumberArray, index: number): number {
  return array[index] as number;
}
