/** A file that grows and is open only while a chunk is written: a release has more files than a process may hold open. */

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { FileForm } from "./compress.js";

const CHUNK = 32 * 1024; // bytes gathered per file before they are written: a release has a thousand files that grow at once

/** Turns the bytes of a document into those of the file that holds it. */
export interface Packer {
  /** The next bytes of the file. */
  write(document: Buffer): Buffer;
  /** The last bytes of the file. */
  end(): Buffer;
}

export interface AppendedFile {
  write(bytes: Buffer): void;
  /** Bytes given so far, unpacked. */
  length(): number;
  /** Writes what is left; gives the size and SHA-256 (hex) of the file. */
  finish(): FileForm;
}

/** The document is the file. */
const unpacked: Packer = { write: (document) => document, end: () => Buffer.alloc(0) };

/** Starts a file and the folders above it. */
export function appendFile(path: string, packer: Packer = unpacked): AppendedFile {
  mkdirSync(dirname(path), { recursive: true });
  const hash = createHash("sha256");
  // Copied: keeping the pieces themselves would keep the slabs alive that many small buffers are cut from.
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let gathered = 0;
  let length = 0;
  let written = 0;
  const append = (bytes: Buffer): void => {
    hash.update(bytes);
    written += bytes.length;
    const file = openSync(path, "a");
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    } finally {
      closeSync(file);
    }
  };
  const flush = (): void => {
    append(packer.write(chunk.subarray(0, gathered)));
    gathered = 0;
  };
  return {
    write: (bytes) => {
      length += bytes.length;
      if (gathered + bytes.length > CHUNK) flush();
      if (bytes.length > CHUNK) append(packer.write(bytes));
      else gathered += bytes.copy(chunk, gathered);
    },
    length: () => length,
    finish: () => {
      flush();
      const end = packer.end();
      if (end.length > 0) append(end);
      return { bytes: written, sha256: hash.digest("hex") };
    },
  };
}
