/** Reading a file of a release while making sure that it still is what the manifest says. */

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { systemCode, UserError } from "../errors.js";
import type { PublishObject } from "./target.js";

/**
 * Gives the file in pieces of `size` bytes, the last one after its SHA-256 was checked: who writes the last piece only when
 * it comes never completes a file that changed meanwhile. Throws UserError `damaged`.
 */
export async function* checkedPieces(object: PublishObject, size: number): AsyncGenerator<Buffer, void> {
  const hash = createHash("sha256");
  const file = await open(object.file, "r").catch((error: unknown) => {
    throw systemCode(error) === "ENOENT" ? changed(object) : error;
  });
  try {
    for (let start = 0; start === 0 || start < object.bytes; start += size) {
      const piece = Buffer.allocUnsafe(Math.min(size, object.bytes - start));
      const { bytesRead } = await file.read(piece, 0, piece.length, start);
      hash.update(piece);
      const isLast = start + size >= object.bytes;
      if (bytesRead !== piece.length || (isLast && hash.digest("hex") !== object.sha256))
        throw changed(object);
      yield piece;
    }
  } finally {
    await file.close();
  }
}

function changed({ file }: PublishObject): UserError {
  return new UserError("damaged", `${file} changed while it was published. Run it again.`);
}
