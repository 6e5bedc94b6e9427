/** A release as a folder or zip file to carry: complete, checked before and after, and able to be checked by whoever gets it. */

import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { codings } from "./compress.js";
import { UserError } from "./errors.js";
import { formsOf, MANIFEST, type Manifest, manifestForms, readManifest, verifyRelease } from "./manifest.js";
import { applyRelease } from "./mirrorapply.js";
import { hashFile } from "./mirrorcache.js";
import { packReadme } from "./packreadme.js";
import { SIGNATURE } from "./sign.js";

export interface PackReport {
  readonly target: string;
  readonly generation: string;
  readonly date: string;
  /** Files in it. */
  readonly files: number;
  /** SHA-256 of the zip file; null for a folder. */
  readonly sha256: string | null;
}

/** Top folder in a zip file: unpacking never scatters files. */
const TOP = "mountain-shelters/";

/** Packs `site` into a folder, or into a zip file when `target` ends in `.zip`. Throws UserError `damaged`, `usage`, `busy`. */
export async function pack(
  site: string,
  target: string,
  onProgress: (files: number) => void,
): Promise<PackReport> {
  if (resolve(site) === resolve(target))
    throw new UserError("usage", `${target} is the release itself. Name another folder, or a .zip file.`);
  const { manifest, faults } = await verifyRelease(site, onProgress);
  if (faults.length > 0)
    throw new UserError(
      "damaged",
      `${site} is damaged: build or mirror it again before you pack it.`,
      faults,
    );
  const bytes = readFileSync(join(site, MANIFEST));
  if (readManifest(site).manifest.generation !== manifest.generation)
    throw new UserError("busy", `${site} is being exchanged: pack it again.`);
  const signature = existsSync(join(site, SIGNATURE)) ? readFileSync(join(site, SIGNATURE)) : null;
  const extras = extrasOf(manifest, bytes);
  const isZip = target.toLowerCase().endsWith(".zip");
  if (isZip) await writeZip(site, target, manifest, signature, extras);
  else {
    const hand = new Map([...formsOf(manifest)].map(({ path, sha256 }) => [sha256, join(site, path)]));
    await applyRelease(target, { manifest, bytes, signature, hand, extras, isCopied: true });
  }
  return {
    target,
    generation: manifest.generation,
    date: manifest.date,
    files: [...formsOf(manifest)].length + 1 + extras.size,
    sha256: isZip ? await hashFile(target) : null,
  };
}

/** README and checksums in the form that `sha256sum -c` reads. */
function extrasOf(manifest: Manifest, bytes: Buffer): ReadonlyMap<string, string> {
  const readme = packReadme(manifest);
  const hash = (content: Buffer | string): string => createHash("sha256").update(content).digest("hex");
  const lines = [
    ...[...formsOf(manifest)].map(({ path, sha256 }) => `${sha256}  ${path}`),
    `${hash(bytes)}  ${MANIFEST}`,
    `${hash(readme)}  README.txt`,
  ];
  return new Map([
    ["README.txt", readme],
    ["SHA256SUMS", `${lines.join("\n")}\n`],
  ]);
}

/** Appears whole or not at all, and is read back before it gets its name. */
async function writeZip(
  site: string,
  target: string,
  manifest: Manifest,
  signature: Buffer | null,
  extras: ReadonlyMap<string, string>,
): Promise<void> {
  const part = `${resolve(target)}.part`;
  mkdirSync(dirname(part), { recursive: true });
  try {
    const zip = new ZipFile();
    const entry = { mtime: new Date(manifest.date), mode: 0o100644 };
    for (const [name, text] of extras) zip.addBuffer(Buffer.from(text), TOP + name, entry);
    const manifestBytes = readFileSync(join(site, MANIFEST));
    zip.addBuffer(manifestBytes, TOP + MANIFEST, entry);
    for (const { coding, body } of manifestForms(site, manifestBytes))
      zip.addBuffer(body, TOP + MANIFEST + codings[coding], { ...entry, compress: false });
    if (signature !== null) zip.addBuffer(signature, TOP + SIGNATURE, entry);
    for (const { path } of formsOf(manifest))
      zip.addFile(join(site, path), TOP + path, { ...entry, compress: !/\.(gz|br)$/.test(path) });
    zip.end();
    const hash = createHash("sha256");
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(zip.outputStream, measure, createWriteStream(part));
    const file = await open(part, "r+");
    await file.sync();
    await file.close();
    if ((await hashFile(part)) !== hash.digest("hex"))
      throw new UserError(
        "system",
        `${target} reads back otherwise than it was written: the disk may be failing.`,
      );
    renameSync(part, target);
  } finally {
    rmSync(part, { force: true });
  }
}
