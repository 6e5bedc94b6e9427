/** Files that a build writes whole, as the manifest lists them: measured as they stand on disk. */

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileForm } from "./compress.js";

/** A file of a release, before it is compressed. */
export interface WrittenFile extends FileForm {
  readonly path: string;
  readonly mediaType: string;
}

/** Writes a file below the release's folder. */
export function writeText(
  folder: string,
  path: string,
  mediaType: string,
  text: string | Uint8Array,
): WrittenFile {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return { ...measure(folder, path), mediaType };
}

const MEASURED = 1024 * 1024; // bytes read at a time: a GeoPackage can be larger than the memory

/** Size and SHA-256 of a file, read a piece at a time. */
export function measure(folder: string, path: string): { readonly path: string } & FileForm {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(MEASURED);
  const file = openSync(join(folder, path), "r");
  try {
    let bytes = 0;
    for (let read = 1; read > 0; bytes += read) {
      read = readSync(file, chunk);
      hash.update(chunk.subarray(0, read));
    }
    return { path, bytes, sha256: hash.digest("hex") };
  } finally {
    closeSync(file);
  }
}
