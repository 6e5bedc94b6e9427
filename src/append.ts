/** A file that grows and is open only while a chunk is written: a release has more files than a process may hold open. */

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const CHUNK = 64 * 1024; // bytes gathered per file before they are written

export interface AppendedFile {
  write(bytes: Buffer): void;
  /** Bytes written so far. */
  length(): number;
  /** Writes what is left; gives the SHA-256 (hex) of the content. */
  finish(): string;
}

/** Starts a file and the folders above it. */
export function appendFile(path: string): AppendedFile {
  mkdirSync(dirname(path), { recursive: true });
  const hash = createHash("sha256");
  // Copied: keeping the pieces themselves would keep the slabs alive that many small buffers are cut from.
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let gathered = 0;
  let length = 0;
  const append = (bytes: Buffer): void => {
    hash.update(bytes);
    const file = openSync(path, "a");
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    } finally {
      closeSync(file);
    }
  };
  const flush = (): void => {
    append(chunk.subarray(0, gathered));
    gathered = 0;
  };
  return {
    write: (bytes) => {
      length += bytes.length;
      if (gathered + bytes.length > CHUNK) flush();
      if (bytes.length > CHUNK) append(bytes);
      else gathered += bytes.copy(chunk, gathered);
    },
    length: () => length,
    finish: () => {
      flush();
      return hash.digest("hex");
    },
  };
}
