/** Compressed forms of the release that a build replaces: a content that did not change is not compressed again. */

import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Coding, codingNames, codings, type FileForm } from "./compress.js";
import { UserError } from "./errors.js";
import { readManifest } from "./manifest.js";
import { program } from "./program.js";

/** Puts the compressed form of a content (SHA-256 in hex) at `target`; null when there is none that can be trusted. */
export type Reuse = (sha256: string, coding: Coding, target: string) => Promise<FileForm | null>;

/** What the release in `site` offers, if this version of the program wrote it; another may compress otherwise. */
export function reuseFrom(site: string): Reuse {
  const known = new Map<string, { readonly path: string } & FileForm>();
  for (const file of filesOf(site)) {
    for (const coding of codingNames) {
      const form = file.codings[coding];
      if (form !== undefined)
        known.set(`${coding} ${file.sha256}`, { ...form, path: join(site, file.path + codings[coding]) });
    }
  }
  return async (sha256, coding, target) => {
    const form = known.get(`${coding} ${sha256}`);
    if (form === undefined) return null;
    try {
      await copyFile(form.path, target, constants.COPYFILE_FICLONE);
      const hash = createHash("sha256");
      await pipeline(createReadStream(target), hash);
      // What was damaged on disk is made anew.
      return hash.digest("hex") === form.sha256 ? { bytes: form.bytes, sha256: form.sha256 } : null;
    } catch {
      return null;
    }
  };
}

function filesOf(site: string) {
  try {
    const { manifest } = readManifest(site);
    return manifest.generator === program.generator ? manifest.files : [];
  } catch (error) {
    if (error instanceof UserError) return []; // there is no release yet, or a damaged one is being replaced
    throw error;
  }
}
