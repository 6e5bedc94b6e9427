/**
 * What a mirror has fetched so far, in a hidden folder beside the release: `<sha256>` is complete and checked,
 * `<sha256>.part` is not complete, `<sha256>.etag` says what it is part of. A kill at any moment loses nothing of it.
 */

import { createHash } from "node:crypto";
import {
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { FileForm } from "../bytes/compress.js";
import { systemCode } from "../errors.js";
import type { Validator } from "./origin.js";

/** What the last run knew of its source. */
export interface MirrorState {
  readonly source: string;
  /** Describes the manifest that lies in the cache. */
  readonly validator: Validator;
  /** Bytes a second. */
  readonly rate: number | null;
}

const MANIFEST_COPY = "manifest";
const SIGNATURE_COPY = "signature";
const STATE = "state.json";

export type Cache = ReturnType<typeof openCache>;

/** Opens the cache folder, or makes it. */
export function openCache(folder: string) {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  return {
    folder,
    /** Where the complete content is, or is put. */
    path: (sha256: string): string => at(sha256),
    part: (sha256: string): string => at(`${sha256}.part`),
    partBytes: (sha256: string): number =>
      statSync(at(`${sha256}.part`), { throwIfNoEntry: false })?.size ?? 0,
    etag: (sha256: string): string | null => readText(at(`${sha256}.etag`)),
    keepEtag: (sha256: string, etag: string | null): void => {
      if (etag === null) rmSync(at(`${sha256}.etag`), { force: true });
      else replaceFile(at(`${sha256}.etag`), etag);
    },
    dropPart: (sha256: string): void => {
      for (const name of [`${sha256}.part`, `${sha256}.etag`]) rmSync(at(name), { force: true });
    },
    has: (sha256: string): boolean => existsSync(at(sha256)),
    /** Makes a file, already checked, part of the cache by moving it. */
    adopt: (path: string, sha256: string): void => renameSync(path, at(sha256)),
    manifest: (): Buffer | null => readBytes(at(MANIFEST_COPY)),
    signature: (): Buffer | null => readBytes(at(SIGNATURE_COPY)),
    state: (): MirrorState | null => readState(at(STATE)),
    /** The state last: it describes the other two. */
    keepManifest: (bytes: Buffer, signature: Buffer | null, state: MirrorState): void => {
      rmSync(at(STATE), { force: true });
      replaceFile(at(MANIFEST_COPY), bytes);
      if (signature === null) rmSync(at(SIGNATURE_COPY), { force: true });
      else replaceFile(at(SIGNATURE_COPY), signature);
      replaceFile(at(STATE), JSON.stringify(state));
    },
    /** Removes what is not of the wanted contents, and what was damaged meanwhile. */
    sweep: (wanted: ReadonlySet<string>): Promise<void> => sweep(folder, wanted),
  };
}

async function sweep(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  for (const name of readdirSync(folder)) {
    if ([MANIFEST_COPY, SIGNATURE_COPY, STATE].includes(name)) continue;
    const [sha256 = "", suffix] = name.split(".", 2);
    const path = join(folder, name);
    const isKept =
      wanted.has(sha256) &&
      (suffix === "part" || suffix === "etag" || (suffix === undefined && (await hashFile(path)) === sha256));
    if (!isKept) rmSync(path, { recursive: true, force: true });
  }
}

/** SHA-256 of a file, hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Whether a file holds exactly these bytes; false when it cannot be read. */
export async function isForm(path: string, form: FileForm): Promise<boolean> {
  try {
    return statSync(path).size === form.bytes && (await hashFile(path)) === form.sha256;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return false;
  }
}

const NO_LINKS = new Set([
  "EPERM",
  "EXDEV",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
  "EACCES",
  "EISDIR",
  "EINVAL",
]);

/** The same bytes under a second name: a hard link where the file system knows it, else a copy. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error) ?? "")) throw error;
    copyFileSync(from, to);
  }
}

function replaceFile(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function readBytes(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

function readText(path: string): string | null {
  return readBytes(path)?.toString("utf8") ?? null;
}

/** A damaged state is none: the next request is then an unconditional one. */
function readState(path: string): MirrorState | null {
  try {
    const state = JSON.parse(readText(path) ?? "null") as MirrorState | null;
    return typeof state?.source === "string" && typeof state.validator === "object" ? state : null;
  } catch {
    return null;
  }
}
