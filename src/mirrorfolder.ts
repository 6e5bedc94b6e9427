/** A release in a folder, such as a USB stick, as the origin of a mirror. */

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "./errors.js";
import { MANIFEST } from "./manifest.js";
import { FetchFault, type OpenedFile, type Origin, reasonOf, type Wanted } from "./mirrororigin.js";

/** Reads from `folder`. A folder is always read anew: it has no validators, and reading costs nothing. */
export function openFolder(folder: string): Origin {
  return {
    name: folder,
    parallel: 2,
    isRemote: false,
    manifest: async () => {
      const bytes = await readWhole(join(folder, MANIFEST));
      if (bytes === null) throw new FetchFault("missing", `it has no ${MANIFEST}`);
      return {
        bytes,
        wireBytes: bytes.length,
        validator: { name: MANIFEST, etag: null, lastModified: null },
      };
    },
    small: (name) => readWhole(join(folder, name)),
    open: async (path, wanted) => openFile(join(folder, path), wanted),
    close: async () => {},
  };
}

async function readWhole(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw new FetchFault("final", `${path} cannot be read: ${reasonOf(error)}`, null, { cause: error });
  }
}

function openFile(path: string, { start, bytes }: Wanted): OpenedFile {
  const stream = createReadStream(path, { start, end: start + bytes - 1 });
  return { start, etag: null, chunks: translated(stream, path) };
}

async function* translated(chunks: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw new FetchFault(isAbsent(error) ? "missing" : "final", `${path}: ${reasonOf(error)}`, null, {
      cause: error,
    });
  }
}

function isAbsent(error: unknown): boolean {
  return systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR";
}
