/** Forms of a file made here of one another: the plain one out of a compressed one, and the other way round. Hashes decide. */

import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { type Coding, codings, compressFile } from "../bytes/compress.js";
import type { ManifestFile } from "../release/manifest.js";
import { type Cache, hashFile, linkOrCopy } from "./cache.js";
import { FetchFault } from "./origin.js";
import type { Form } from "./plan.js";

export interface Stock {
  readonly cache: Cache;
  /** Contents at hand: hash -> path. What is made is added. */
  readonly hand: Map<string, string>;
}

/** The plain form out of a compressed one; never more bytes than the manifest says. */
export async function unpack(form: Form, coding: Coding, file: ManifestFile, { cache, hand }: Stock) {
  const target = `${cache.path(file.sha256)}.tmp`;
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > file.bytes) done(new FetchFault("corrupt", `${form.path}: it unpacks to too many bytes`));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(
      createReadStream(hand.get(form.sha256) ?? cache.path(form.sha256)),
      coding === "gzip" ? createGunzip() : createBrotliDecompress(),
      bound,
      createWriteStream(target),
    );
  } catch (error) {
    rmSync(target, { force: true });
    if (
      !(
        error instanceof Error &&
        "code" in error &&
        /^(Z_|ERR_BROTLI|ERR_PADDING|ERR__)/.test(String(error.code))
      )
    )
      throw error;
    throw new FetchFault("corrupt", `${form.path}: it cannot be unpacked`, null, { cause: error });
  }
  if ((await hashFile(target)) !== file.sha256) {
    rmSync(target, { force: true });
    throw new FetchFault("corrupt", `${form.path}: what it unpacks to differs from the manifest`);
  }
  cache.adopt(target, file.sha256);
  hand.set(file.sha256, cache.path(file.sha256));
}

/** Compressed forms made here: kept when they are what the manifest says, which is so for the same version of zlib. */
export async function pack(file: ManifestFile, lacking: readonly Form[], { cache, hand }: Stock) {
  const source = hand.get(file.sha256);
  if (source === undefined) return;
  const copy = `${cache.path(file.sha256)}.tmp`;
  rmSync(copy, { force: true });
  linkOrCopy(source, copy);
  for (const { coding, sha256 } of lacking) {
    if (coding === null) continue;
    const made = await compressFile(copy, file.bytes, coding);
    if (made.sha256 === sha256) {
      cache.adopt(copy + codings[coding], sha256);
      hand.set(sha256, cache.path(sha256));
    } else rmSync(copy + codings[coding], { force: true });
  }
  rmSync(copy, { force: true });
}
