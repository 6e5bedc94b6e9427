/**
 * The compressed form of each place, made so that any run of places can be taken out and joined to a gzip stream without
 * compressing anything: a piece is the separator and the place as raw deflate (RFC 1951) that refers to nothing but itself
 * and the place before it, and ends on a byte. The first place of a run goes plain, for what stands before it is another.
 */

import { constants, crc32, deflateRawSync } from "node:zlib";
import { appendFile } from "./append.js";
import type { FileForm } from "./compress.js";
import { type FormatName, formats } from "./formats/index.js";
import type { RanksWriter } from "./rankfile.js";

/** A file of pieces, as it stands in the manifest. */
export interface WrittenPieces extends FileForm {
  readonly path: string;
}

/** Where the pieces of a format stand in a release. */
export function piecesPath(format: FormatName): string {
  return `pieces/${format}.deflate`;
}

/** Writes the pieces of a format, place after place in canonical order. */
export function createPieces(folder: string, format: FormatName, count: number) {
  const path = piecesPath(format);
  const file = appendFile(`${folder}/${path}`);
  const separator = Buffer.from(formats[format].separator);
  const starts = new Float64Array(count + 1);
  const checks = new Uint32Array(count + 1);
  let rank = 0;
  let previous: Buffer = Buffer.alloc(0);
  return {
    append: (place: Buffer): void => {
      const plain = Buffer.concat([separator, place]);
      // The first place is always the first of its run: its piece is never asked for.
      if (rank > 0) file.write(deflatePiece(plain, previous));
      checks[rank + 1] = crc32(plain, checks[rank] ?? 0);
      starts[rank + 1] = file.length();
      previous = place;
      rank++;
    },
    finish: (ranks: RanksWriter): WrittenPieces => {
      ranks.setPieces(format, { starts, checks });
      return { path, ...file.finish() };
    },
  };
}

function deflatePiece(plain: Buffer, previous: Buffer): Buffer {
  return deflateRawSync(plain, {
    level: 9,
    // Tables of codes would be longer than what they save on half a kilobyte.
    strategy: constants.Z_FIXED,
    // The encoder's memory is cleared for every piece: no more of it than two places need.
    windowBits: plain.length + previous.length < 1700 ? 11 : 15,
    memLevel: 4,
    dictionary: previous,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
}
