/** A filtered document as a gzip stream (RFC 1952), put together from pieces that were compressed when the release was built. */

import { constants, crc32, deflateRawSync } from "node:zlib";
import type { Part } from "../answer.js";
import { joinChecks, joinTail } from "../bytes/crc.js";
import type { FileBody } from "./bodies.js";
import type { PieceIndex } from "./pieces.js";
import type { Positions } from "./positions.js";
import type { Envelope } from "./rankfile.js";
import type { RankRange } from "./ranks.js";

/** What a whole export is made of, plain and in pieces. */
export interface Pieces {
  readonly whole: FileBody;
  /** Byte at which each place begins in `whole`. */
  readonly offsets: Positions;
  readonly compressed: FileBody;
  readonly index: PieceIndex;
  readonly separator: Buffer;
}

// Deflate, no name, no time, system unknown.
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const LAST_BLOCK = Buffer.from([0x03, 0x00]); // an empty last block
const STORED_MOST = 65_535; // bytes of a stored block

/** The stream of prologue, ranges of places, epilogue. Ranges rise and do not touch; there is at least one. */
export function gzipCut(envelope: Envelope, ranges: readonly RankRange[], pieces: Pieces): Part[] {
  const ends = deflateEnvelope(envelope);
  const { offsets, index, separator } = pieces;
  const body: Part[] = [HEADER, ends.prologue];
  let check = ends.prologueCheck;
  let length = envelope.prologue.length;
  for (const { from, to } of ranges) {
    const isFirst = body.length === 2;
    const skipped = isFirst ? separator.length : 0; // no separator stands before the first place
    const bytes = byteOf(offsets, to) - byteOf(offsets, from) - skipped;
    const before = isFirst ? separatedCheck(index, from, separator) : checkOf(index, from);
    check = joinTail(check, before, checkOf(index, to), bytes);
    length += bytes;
    const start = byteOf(offsets, from) - (isFirst ? 0 : separator.length);
    storePlain(body, pieces.whole, start, byteOf(offsets, from + 1) - separator.length);
    if (to > from + 1)
      body.push(pieces.compressed.slice(byteOf(index.starts, from + 1), byteOf(index.starts, to)));
  }
  check = joinChecks(check, ends.epilogueCheck, envelope.epilogue.length);
  length += envelope.epilogue.length;
  body.push(ends.epilogue, trailer(check, length));
  return body;
}

function byteOf(offsets: Positions, rank: number): number {
  return offsets[rank] as number;
}

/** Of the places before `rank`. */
function checkOf({ checks }: PieceIndex, rank: number): number {
  return checks[rank] as number;
}

/** Of the places before `rank` and the separator behind them. */
function separatedCheck(index: PieceIndex, rank: number, separator: Buffer): number {
  return crc32(separator, checkOf(index, rank));
}

/** Bytes of a file as stored blocks: they cost nothing to make. */
function storePlain(body: Part[], whole: FileBody, start: number, end: number): void {
  for (let from = start; from < end; from += STORED_MOST) {
    const to = Math.min(end, from + STORED_MOST);
    const size = to - from;
    body.push(
      Buffer.from([0, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255]),
      whole.slice(from, to),
    );
  }
}

function trailer(check: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32LE(check >>> 0, 0);
  bytes.writeUInt32LE(length % 2 ** 32, 4);
  return bytes;
}

interface DeflatedEnvelope {
  readonly prologue: Buffer;
  readonly prologueCheck: number;
  /** Ends the stream. */
  readonly epilogue: Buffer;
  readonly epilogueCheck: number;
}

const deflated = new WeakMap<Envelope, DeflatedEnvelope>();

/** A release has a few hundred envelopes: each is compressed when it is first asked for. */
function deflateEnvelope(envelope: Envelope): DeflatedEnvelope {
  let ends = deflated.get(envelope);
  if (ends === undefined) {
    const deflate = (bytes: Buffer): Buffer => deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH });
    ends = {
      prologue: deflate(envelope.prologue),
      prologueCheck: crc32(envelope.prologue),
      epilogue: Buffer.concat([deflate(envelope.epilogue), LAST_BLOCK]),
      epilogueCheck: crc32(envelope.epilogue),
    };
    deflated.set(envelope, ends);
  }
  return ends;
}
