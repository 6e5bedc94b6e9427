/**
 * The compressed form of each place, made so that any run of places can be taken out and joined to a gzip stream without
 * compressing anything: a piece is the separator and the place as raw deflate (RFC 1951) that refers to nothing but itself
 * and the place before it, and ends on a byte. The first place of a run goes plain, for what stands before it is another.
 */

import { crc32 } from "node:zlib";
import { appendFile } from "../bytes/append.js";
import type { FileForm } from "../bytes/compress.js";
import { createDeflater } from "../bytes/deflate.js";
import { type FormatName, formats } from "../formats/index.js";
import { piecesPath } from "./paths.js";
import { createPositions, type Positions } from "./positions.js";

/** Where the compressed form of each place is, and what a gzip stream needs to know of the plain one. */
export interface PieceIndex {
  /** Piece `rank` begins at `[rank]`; the last entry is the end of the last piece. */
  readonly starts: Positions;
  /** CRC-32 of the first `rank` places, each with the separator before it. */
  readonly checks: Uint32Array<ArrayBuffer>;
}

/** A file of pieces, and what the release's database knows of it. */
export interface WrittenPieces extends FileForm, PieceIndex {
  readonly path: string;
}

/** Writes the pieces of a format, place after place in canonical order. */
export function createPieces(folder: string, format: FormatName, count: number) {
  const path = piecesPath(format);
  const file = appendFile(`${folder}/${path}`);
  const separator = Buffer.from(formats[format].separator);
  const starts = createPositions(count + 1);
  const checks = new Uint32Array(count + 1);
  const deflater = createDeflater();
  let rank = 0;
  return {
    append: (place: Uint8Array): void => {
      const length = separator.length + place.length;
      const plain = deflater.room(length);
      plain.set(separator);
      plain.set(place, separator.length);
      checks[rank + 1] = crc32(plain.subarray(0, length), checks[rank] ?? 0);
      const piece = deflater.deflate(length, place.length);
      // The first place is always the first of its run: its piece is never asked for.
      if (rank > 0) file.write(piece);
      starts.set(rank + 1, file.length());
      rank++;
    },
    finish: (): WrittenPieces => ({ path, ...file.finish(), starts: starts.values(), checks }),
  };
}
