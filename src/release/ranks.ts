/**
 * Which ranks a filter selects. Of the blocks that meet the box, one inside it is taken whole, one across its edge is checked
 * place by place in typed arrays. Coordinates are integers of 1e-7 degree throughout: no
 * comparison is ever inexact. The answer is a few runs of ranks, and a run of ranks is a run of bytes.
 */

import type { FormatName } from "../formats/index.js";
import { type BBox, coordinateUnits, unitsToDegrees } from "../place.js";
import type { Filter } from "../query.js";
import type { Category } from "../taxonomy.js";
import { at, BLOCK_SIZE, blocksMeeting, boxBlocks } from "./blocks.js";
import type { PieceIndex } from "./pieces.js";
import type { Positions } from "./positions.js";
import { ALL, type Envelope, readRankFile } from "./rankfile.js";

/** A run of ranks, `from` included, `to` not. */
export interface RankRange {
  readonly from: number;
  readonly to: number;
}

export interface Selection {
  /** Places that the filter selects, whatever the page. */
  readonly matched: number;
  /** Places on the page. */
  readonly returned: number;
  readonly ranges: readonly RankRange[];
}

export interface Ranks {
  readonly count: number;
  /** Ranks that the filter selects, in canonical order, without the first `offset` and at most `limit` of them. */
  select(filter: Filter, offset: number, limit: number): Selection;
  /** Byte positions in the whole export: place `rank` begins at `[rank]`; the last entry is where a further one would. */
  offsets(format: FormatName): Positions;
  /** Undefined for a format whose places have no compressed form. */
  pieces(format: FormatName): PieceIndex | undefined;
  /** Prologue and epilogue without a box; those of the whole export for a region that is not registered. */
  envelope(format: FormatName, region: string | null, category: Category | null): Envelope;
  close(): void;
}

// Comparing a block takes 1.3 ns, asking the R*Tree for a small box 2 to 4 µs, however many blocks there are.
const SCANNED = 2048; // most blocks that are compared one by one: those of 131,072 places

/**
 * Opens the database of a release from its bytes. The blocks that meet a box are named by the R*Tree where there are more than
 * `scanned`. Throws UserError `damaged` when it cannot be used.
 */
export function openRanks(bytes: Buffer, name: string, scanned = SCANNED): Ranks {
  const file = readRankFile(bytes, name);
  const { lon, lat, category, region } = file;
  const regionIds = new Map(file.regions.map((region, index) => [region, index + 1]));
  const blocks = boxBlocks(lon, lat);
  const meeting = (box: BBox): Iterable<number> =>
    blocks.west.length <= scanned
      ? blocksMeeting(blocks, box)
      : // Sorted as numbers: the R*Tree gives blocks in no order, ranges must come in canonical order.
        Uint32Array.from(file.blocksMeeting(box)).sort();

  const select: Ranks["select"] = (filter, offset, limit) => {
    const page = startPage(offset, limit);
    const wantedRegion = filter.region === null ? ALL : regionIds.get(filter.region);
    if (wantedRegion === undefined) return page.end();
    const wantedCategory = filter.category ?? ALL;
    const box = filter.bbox === null ? null : unitBox(filter.bbox);
    const isPlain = wantedRegion === ALL && wantedCategory === ALL;
    const take = (block: number): void => {
      const first = block * BLOCK_SIZE;
      const end = Math.min(first + BLOCK_SIZE, lon.length);
      const isInside =
        box === null ||
        (at(blocks.west, block) >= box.west &&
          at(blocks.east, block) <= box.east &&
          at(blocks.south, block) >= box.south &&
          at(blocks.north, block) <= box.north);
      if (isInside && isPlain) {
        page.take(first, end);
        return;
      }
      for (let rank = first; rank < end; rank++) {
        if (!isInside && !isIn(box, at(lon, rank), at(lat, rank))) continue;
        if (wantedCategory !== ALL && category[rank] !== wantedCategory) continue;
        if (wantedRegion !== ALL && region[rank] !== wantedRegion) continue;
        page.take(rank, rank + 1);
      }
    };
    if (box === null && isPlain) page.take(0, lon.length);
    else if (box === null) for (let block = 0; block < blocks.west.length; block++) take(block);
    else for (const block of meeting(box)) take(block);
    return page.end();
  };

  return {
    count: lon.length,
    select,
    offsets: file.offsets,
    pieces: file.pieces,
    envelope: (format, wantedRegion, wantedCategory) => {
      const id = regionIds.get(wantedRegion ?? "") ?? ALL;
      return (file.envelope(format, id, wantedCategory ?? ALL) ??
        file.envelope(format, ALL, ALL)) as Envelope;
    },
    close: file.close,
  };
}

/** Cuts offset and limit out of runs that come in rising order, joins those that touch, and counts them all. */
function startPage(offset: number, limit: number) {
  const ranges: { from: number; to: number }[] = [];
  let matched = 0;
  let returned = 0;
  return {
    take: (from: number, to: number): void => {
      const start = from + Math.max(0, offset - matched);
      matched += to - from;
      const end = Math.min(to, start + limit - returned);
      if (end <= start) return;
      returned += end - start;
      const last = ranges.at(-1);
      if (last !== undefined && last.to === start) last.to = end;
      else ranges.push({ from: start, to: end });
    },
    end: (): Selection => ({ matched, returned, ranges }),
  };
}

/** The box in units of 1e-7 degree, such that comparing units gives what comparing the degrees would. */
function unitBox({ west, south, east, north }: BBox): BBox {
  return {
    west: lowestUnit(west),
    south: lowestUnit(south),
    east: -lowestUnit(-east),
    north: -lowestUnit(-north),
  };
}

/** The lowest unit whose degrees are not below `degrees`. */
function lowestUnit(degrees: number): number {
  let unit = coordinateUnits(degrees);
  while (unitsToDegrees(unit) < degrees) unit++;
  return unit;
}

function isIn(box: BBox | null, lon: number, lat: number): boolean {
  return box === null || (lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north);
}
