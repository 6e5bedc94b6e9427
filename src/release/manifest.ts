/** manifest.json: what a release holds and how to tell that it is whole. */

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Coding, codingNames, codings, type FileForm } from "../bytes/compress.js";
import { systemCode, UserError } from "../errors.js";
import type { BBox, Provenance } from "../place.js";
import type { Origin } from "../sources/source.js";

export const MANIFEST = "manifest.json";
/** Its Ed25519 signature, where there is one; base64. */
export const SIGNATURE = `${MANIFEST}.sig`;

/** One file of a release, with its compressed forms. */
export interface ManifestFile extends FileForm {
  /** Relative to the release, forward slashes. */
  readonly path: string;
  readonly mediaType: string;
  /** Places in it; absent for files that hold none. */
  readonly places?: number;
  /** `path` + `.gz` or `.br`; empty for files that do not compress. */
  readonly codings: Readonly<Partial<Record<Coding, FileForm>>>;
  /** Read by the host that the release was built for, and not served: a copy over HTTP lacks it and is whole. */
  readonly hostOnly?: true;
}

export interface ManifestRegion {
  readonly name: string;
  readonly slug: string;
  readonly count: number;
  /** Places by category, "1" to "7". */
  readonly categories: Readonly<Record<string, number>>;
}

export interface Manifest extends Provenance {
  readonly generator: string;
  readonly generation: string;
  readonly count: number;
  readonly bbox: BBox | null;
  readonly categories: Readonly<Record<string, number>>;
  readonly regions: readonly ManifestRegion[];
  /** SHA-256 of the places: unlike the generation, it does not change with the program. */
  readonly content: string;
  /** Address of the service that the data were pulled from, when, and with what repairs; absent where it was a file. */
  readonly source?: string;
  readonly pulledAt?: string;
  readonly pulled?: Origin["pulled"];
  /** Largest zoom of the tiles; absent where the release has none. */
  readonly maxTileZoom?: number;
  /** The database that the server filters with; one of `files`. */
  readonly database: string;
  readonly files: readonly ManifestFile[];
  /** In a copy that is not complete yet: files of the release that are still to come. */
  readonly missing?: number;
}

/** One file a line, so that two manifests can be compared by eye. */
export function formatManifest({ files, ...rest }: Manifest): string {
  const head = JSON.stringify(rest, null, 1).slice(0, -2);
  return `${head},\n "files": [\n${files.map((file) => `  ${JSON.stringify(file)}`).join(",\n")}\n ]\n}\n`;
}

/** Reads `manifest.json` of a release folder. Throws UserError `damaged` where there is none, or none that can be used. */
export function readManifest(site: string): { readonly manifest: Manifest; readonly bytes: Buffer } {
  const path = join(site, MANIFEST);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "ENOTDIR") throw error;
    throw new UserError(
      "damaged",
      `There is no release in ${site} (no ${MANIFEST}). Run \`shelters build\` first.`,
      [],
      { cause: error },
    );
  }
  return { manifest: parseManifest(bytes, path), bytes };
}

/** The compressed forms beside a manifest that are of these very bytes; another form, or none, is passed over. */
export function manifestForms(
  site: string,
  bytes: Buffer,
): { readonly coding: Coding; readonly body: Buffer }[] {
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync } satisfies Record<Coding, unknown>;
  return codingNames.flatMap((coding) => {
    try {
      const body = readFileSync(join(site, MANIFEST + codings[coding]));
      return unpack[coding](body, { maxOutputLength: bytes.length + 1 }).equals(bytes)
        ? [{ coding, body }]
        : [];
    } catch {
      return [];
    }
  });
}

/** Checks what the program relies on; `name` is for the message. Throws UserError `damaged`. */
export function parseManifest(bytes: Buffer, name: string): Manifest {
  let value: Partial<Manifest>;
  try {
    value = JSON.parse(bytes.toString("utf8")) as Partial<Manifest>;
  } catch (error) {
    throw new UserError("damaged", `${name} is damaged: it is not valid JSON.`, [], { cause: error });
  }
  const isManifest =
    typeof value?.generation === "string" &&
    typeof value.date === "string" &&
    typeof value.database === "string" &&
    typeof value.count === "number" &&
    Array.isArray(value.regions) &&
    Array.isArray(value.files);
  if (!isManifest) throw new UserError("damaged", `${name} is not the manifest of a release.`);
  const foul = (value as Manifest).files.find(
    (file) =>
      !isSafePath(file?.path) ||
      !Number.isSafeInteger(file.bytes) ||
      !/^[0-9a-f]{64}$/.test(file.sha256) ||
      typeof file.codings !== "object",
  );
  if (foul !== undefined)
    throw new UserError("damaged", `${name} has a damaged entry: ${JSON.stringify(foul).slice(0, 200)}.`);
  return value as Manifest;
}

/** A path that stays inside the folder it is joined to, on every system. */
function isSafePath(path: unknown): boolean {
  if (path === ".nojekyll") return true; // what GitHub Pages needs
  return (
    typeof path === "string" && /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(path)
  );
}

/** Every form of every file that is served: the plain one and the compressed ones. */
export function* formsOf(manifest: Manifest): Generator<{ readonly path: string } & FileForm> {
  for (const file of manifest.files) {
    if (file.hostOnly) continue;
    yield { path: file.path, bytes: file.bytes, sha256: file.sha256 };
    for (const coding of codingNames) {
      const form = file.codings[coding];
      if (form !== undefined) yield { path: file.path + codings[coding], ...form };
    }
  }
}

export interface Verification {
  readonly manifest: Manifest;
  /** Forms of files that were checked. */
  readonly files: number;
  /** What differs from the manifest, a line each; empty when the release is whole. */
  readonly faults: readonly string[];
}

/** Checks every form of every file, and the manifest's own, against the manifest; starts again when the release is exchanged meanwhile. */
export async function verifyRelease(
  site: string,
  onProgress: (files: number) => void = () => {},
): Promise<Verification> {
  const { manifest, bytes } = readManifest(site);
  const faults: string[] = [];
  let files = 0;
  for (const form of formsOf(manifest)) {
    const fault = await checkFile(join(site, form.path), form);
    if (fault !== null) faults.push(`${form.path}: ${fault}`);
    onProgress(++files);
  }
  for (const { path, bytes, sha256 } of manifest.files.filter(({ hostOnly }) => hostOnly)) {
    const fault = await checkFile(join(site, path), { bytes, sha256 });
    if (fault !== null && fault !== MISSING) faults.push(`${path}: ${fault}`);
    onProgress(++files);
  }
  faults.push(...manifestFaults(site, bytes));
  const wasExchanged = faults.length > 0 && !readManifest(site).bytes.equals(bytes);
  return wasExchanged ? verifyRelease(site, onProgress) : { manifest, files, faults };
}

/** Compressed forms of a manifest that are there, and not of these very bytes: one of them is damaged, or of another release. */
function manifestFaults(site: string, bytes: Buffer): string[] {
  const sound = manifestForms(site, bytes).map(({ coding }) => coding);
  return codingNames
    .filter((coding) => !sound.includes(coding) && existsSync(join(site, MANIFEST + codings[coding])))
    .map((coding) => `${MANIFEST}${codings[coding]}: it differs from ${MANIFEST}`);
}

const MISSING = "missing";

async function checkFile(path: string, form: FileForm): Promise<string | null> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (error) {
    return systemCode(error) === "ENOENT" ? MISSING : `unreadable (${systemCode(error) ?? String(error)})`;
  }
  if (bytes !== form.bytes) return `${bytes} bytes, the manifest says ${form.bytes}`;
  return hash.digest("hex") === form.sha256 ? null : "its content differs from the manifest";
}
