/** A release put together from contents at hand, checked byte by byte, and swapped in whole. */

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compressFiles } from "./compress.js";
import { UserError } from "./errors.js";
import { formatManifest, formsOf, MANIFEST, type Manifest, verifyRelease } from "./manifest.js";
import { hashFile, linkOrCopy } from "./mirrorcache.js";
import { SIGNATURE } from "./sign.js";
import { replaceRelease } from "./swap.js";

export interface Assembly {
  readonly manifest: Manifest;
  /** The manifest as it is to be written; null = written anew, for a copy that is not complete. */
  readonly bytes: Buffer | null;
  readonly signature: Buffer | null;
  /** hash -> path. */
  readonly hand: ReadonlyMap<string, string>;
  /** Other files to add, by name, such as a README; not in the manifest. */
  readonly extras?: ReadonlyMap<string, string | Buffer>;
  /** Never by hard links: the copy is to be one of its own. */
  readonly isCopied?: boolean;
}

/** Puts the release in the place of the one in `site`. Throws UserError `busy`, `damaged`; the old one stays then. */
export function applyRelease(site: string, assembly: Assembly): Promise<void> {
  return replaceRelease(site, (folder) => assembleRelease(folder, assembly));
}

async function assembleRelease(folder: string, assembly: Assembly): Promise<void> {
  const { manifest, hand, signature, extras = new Map(), isCopied = false } = assembly;
  for (const { path, sha256 } of formsOf(manifest)) {
    const from = hand.get(sha256);
    if (from === undefined) throw new Error(`${path} is not at hand`);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (isCopied) copyFileSync(from, join(folder, path));
    else linkOrCopy(from, join(folder, path));
  }
  const bytes = assembly.bytes ?? Buffer.from(formatManifest(manifest));
  const path = join(folder, MANIFEST);
  writeFileSync(path, bytes);
  const compressible = { path, bytes: bytes.length, sha256: await hashFile(path) };
  await compressFiles([compressible], () => {});
  if (signature !== null) writeFileSync(join(folder, SIGNATURE), signature);
  for (const [name, content] of extras) writeFileSync(join(folder, name), content);
  const { faults } = await verifyRelease(folder);
  if (faults.length > 0)
    throw new UserError("damaged", "The copy differs from its manifest: the disk may be failing.", faults);
}
