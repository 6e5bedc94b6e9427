/** Contents of a release's files: in memory from the start, or behind an open file. */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { etagOf, type OpenFile, type Part } from "../answer.js";
import { type Coding, codingNames, codings, type FileForm } from "../bytes/compress.js";
import { UserError } from "../errors.js";
import { formatNames } from "../formats/index.js";
import type { ManifestFile } from "./manifest.js";
import { exportPath, piecesPath } from "./paths.js";

/** One form of a file: the plain one (`coding` null) or a compressed one. */
export interface FileBody {
  readonly coding: Coding | null;
  readonly length: number;
  readonly etag: string;
  /** Bytes from `start` to `end`, not included. */
  slice(start: number, end: number): Part;
}

/** A form of a file, before it is opened. */
export interface Source extends FileForm {
  readonly path: string;
  readonly coding: Coding | null;
  readonly etag: string;
}

/** Every form of a file, with the validator it is served under. */
export function formsOfFile(file: ManifestFile): Source[] {
  // All forms share the hash of the plain content: the same document has the same ETag but for the suffix.
  const hash = file.sha256.slice(0, 24);
  const coded = codingNames.flatMap((coding) => {
    const form = file.codings[coding];
    return form === undefined
      ? []
      : [
          {
            path: file.path + codings[coding],
            coding,
            etag: etagOf(hash, coding),
            bytes: form.bytes,
            sha256: form.sha256,
          },
        ];
  });
  return [
    { path: file.path, coding: null, etag: etagOf(hash, null), bytes: file.bytes, sha256: file.sha256 },
    ...coded,
  ];
}

const shares = {
  cut: 3 / 4, // at most, for what cut answers are made of
  small: 1 / 8, // for the smallest files: there are so many that none should stay open
} as const;

/** Paths of what is read at the start, and the bytes of memory that are left for what is asked for later. */
export function chooseForMemory(sources: readonly Source[], memory: number) {
  const chosen = new Set<string>();
  let left = memory;
  /** What does not fit is passed over. */
  const choose = (candidates: readonly Source[], share: number): void => {
    let room = memory * share;
    for (const { path, bytes } of candidates) {
      if (bytes > room) continue;
      room -= bytes;
      left -= bytes;
      chosen.add(path);
    }
  };
  const cut = formatNames.flatMap((format) => [exportPath(null, null, format), piecesPath(format)]);
  const place = (path: string): number => cut.indexOf(path);
  const isCut = ({ path }: Source): boolean => place(path) !== -1;
  choose(
    sources.filter(isCut).sort((a, b) => place(a.path) - place(b.path)),
    shares.cut,
  );
  choose(
    sources.filter((source) => !isCut(source)).sort((a, b) => a.bytes - b.bytes),
    shares.small,
  );
  return { chosen, left };
}

/** Work that may be left after every step: whoever runs it decides whether others get a turn in between. */
export type Steps<Result> = Generator<void, Result, void>;

const TURN = 2; // ms of work before others have their turn: under load a turn of theirs is as long

/** Lets others work in between. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const end = performance.now() + TURN;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (performance.now() < end);
    await new Promise(setImmediate);
  }
}

/** Opens a form; a file that stays open goes to `keep`, any other into memory. Throws UserError `damaged`. */
export function* openBody(
  site: string,
  source: Source,
  opened: number[],
  keep: ((descriptor: number) => OpenFile) | null,
): Steps<FileBody> {
  const path = join(site, source.path);
  const file = openSync(path, "r");
  opened.push(file);
  const { size } = fstatSync(file);
  if (size !== source.bytes) throw damaged(path, `${size} bytes instead of ${source.bytes}`);
  if (keep !== null) {
    const kept = keep(file);
    return {
      coding: source.coding,
      length: size,
      etag: source.etag,
      slice: (start, end) => ({ file: kept, start, end }),
    };
  }
  const bytes = yield* readChecked(file, source, path);
  closeSync(file);
  opened.splice(opened.indexOf(file), 1);
  return memoryBody(bytes, source.coding, source.etag);
}

/** A body whose bytes are at hand. */
export function memoryBody(bytes: Buffer, coding: Coding | null, etag: string): FileBody {
  return {
    coding,
    length: bytes.length,
    etag,
    slice: (start, end) => (start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)),
  };
}

const STEP = 1024 * 1024; // bytes read and checked at a time: about a millisecond

/** The content of an open file, which must be the one that the manifest names. Throws UserError `damaged`. */
export function* readChecked(file: number, form: FileForm, path: string): Steps<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(form.bytes);
  const hash = createHash("sha256");
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(file, bytes, done, Math.min(STEP, bytes.length - done), done);
    if (read === 0) break;
    hash.update(bytes.subarray(done, done + read));
    done += read;
    if (done % STEP === 0) yield;
  }
  if (hash.digest("hex") !== form.sha256) throw damaged(path, "its content differs from the manifest");
  return bytes;
}

/** A file of a release is not what its manifest says. */
export function damaged(path: string, what: string): UserError {
  return new UserError("damaged", `${path} is damaged: ${what}. Build or mirror the release again.`);
}
