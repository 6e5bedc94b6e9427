/** A release in a folder, such as a USB stick, as the origin of a mirror. */

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../errors.js";
import { MANIFEST } from "../release/manifest.js";
import { FetchFault, type OpenedFile, type Origin, reasonOf, type Wanted } from "./origin.js";

/** Reads from `folder`. A folder is always read anew: it has no validators, and reading costs nothing. */
export function openFolder(folder: string): Origin {
  return {
    name: folder,
    parallel: 2,
    isRemote: false,
    manifest: async () => {
      const bytes = await readWhole(join(folder, MANIFEST));
      if (bytes === null) throw new FetchFault("missing", `it has no ${MANIFEST}`);
      return { bytes, validator: { etag: null, lastModified: null } };
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
  return { start, announced: null, etag: null, chunks: chunksOf(path, start, start + bytes - 1) };
}

/** Opened when it is read: an error before that would have nobody to hear it. */
async function* chunksOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { start, end });
  } catch (error) {
    const kind = isAbsent(error) ? "missing" : "final";
    throw new FetchFault(kind, reasonOf(error), null, { cause: error });
  }
}

function isAbsent(error: unknown): boolean {
  return systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR";
}
