/** An open release: everything a request needs, in memory or behind an open file, and never a mix of two generations. */

import { createHash } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemCode, UserError } from "../errors.js";
import { type FormatName, formatNames, formats } from "../formats/index.js";
import { webAddress } from "../formats/xml.js";
import type { Category } from "../taxonomy.js";
import {
  chooseForMemory,
  damaged,
  type FileBody,
  formsOfFile,
  inTurns,
  openBody,
  readChecked,
  type Steps,
} from "./bodies.js";
import type { Pieces } from "./gzip.js";
import { createKeeper } from "./keeper.js";
import { type Lifetime, lifetime } from "./lifetime.js";
import { MANIFEST, type Manifest, readManifest } from "./manifest.js";
import { exportPath, piecesPath } from "./paths.js";
import { openRanks, type Ranks } from "./ranks.js";
import { manifestFiles, type ReleaseFile, servedFiles } from "./served.js";

export interface Release extends Lifetime {
  readonly manifest: Manifest;
  /** Changes with any byte of any file: the validator of answers that are put together. */
  readonly tag: string;
  /** HTTP date of the release: when its manifest was written here, or of the data if that is later. */
  readonly lastModified: string;
  /** Address of the data's licence; null where it is known in words only. */
  readonly licenseUrl: string | null;
  /** null in a copy that is not complete yet, as long as the database has not come: then only whole files can be answered. */
  readonly ranks: Ranks | null;
  /** A file by its path, or undefined: of the manifest, the manifest itself, and each compressed form under its own name. */
  file(path: string): ReleaseFile | undefined;
  /** The planned export of a selection; undefined for a region that is not registered. */
  plannedExport(
    region: string | null,
    category: Category | null,
    format: FormatName,
  ): ReleaseFile | undefined;
  /** What filtered answers of a format are gzipped from; undefined where the release has none. */
  pieces(format: FormatName): Pieces | undefined;
}

/** Bytes of memory for file contents: those of the start, and those that were asked for. */
export const DEFAULT_MEMORY = 256 * 1024 * 1024;

/**
 * Opens a release folder. What is read now is checked against the manifest, the other files by their size, and by their
 * content when they are first asked for.
 * Throws UserError `damaged` when the release is missing, incomplete or altered.
 */
export function openRelease(site: string, memory = DEFAULT_MEMORY): Release {
  const steps = openInSteps(site, memory);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `openRelease`, in steps of about a millisecond: a server goes on answering in between. */
export function loadRelease(site: string, memory = DEFAULT_MEMORY): Promise<Release> {
  return inTurns(openInSteps(site, memory));
}

function* openInSteps(site: string, memory: number): Steps<Release> {
  const { manifest, bytes } = readManifest(site);
  const opened: number[] = [];
  try {
    return yield* assemble(site, manifest, bytes, memory, opened);
  } catch (error) {
    for (const file of opened) closeSync(file);
    if (systemCode(error) !== "ENOENT") throw error;
    throw new UserError(
      "damaged",
      `The release in ${site} is incomplete: a file of its manifest is missing. Build or mirror it again.`,
      [],
      { cause: error },
    );
  }
}

function* assemble(
  site: string,
  manifest: Manifest,
  manifestBytes: Buffer,
  memory: number,
  opened: number[],
): Steps<Release> {
  const served = manifest.files.filter(({ hostOnly }) => !hostOnly);
  const sources = served.flatMap((file) => formsOfFile(file));
  const { chosen, left } = chooseForMemory(sources, memory);
  const keeper = createKeeper(left);
  const bodies = new Map<string, FileBody>();
  for (const source of sources) {
    const keep = chosen.has(source.path) ? null : keeper(source, join(site, source.path));
    bodies.set(source.path, yield* openBody(site, source, opened, keep));
    if (keep === null) yield;
  }
  const tag = createHash("sha256").update(manifestBytes).digest("base64url").slice(0, 24);
  const files = servedFiles(served, bodies);
  for (const file of manifestFiles(site, manifestBytes, tag)) files.set(file.path, file);
  const slugs = new Map(manifest.regions.map(({ name, slug }) => [name, slug]));
  const isPart = manifest.missing !== undefined;
  for (const format of formatNames) {
    if (!isPart && !files.has(exportPath(null, null, format)))
      throw new UserError(
        "damaged",
        `The release in ${site} has no ${exportPath(null, null, format)}. Build it again with this program.`,
      );
  }
  const ranks =
    isPart && !files.has(manifest.database)
      ? null
      : openRanks(yield* readDatabase(site, manifest), join(site, manifest.database));
  const pieces = new Map(formatNames.map((format) => [format, findPieces(format, files, ranks)]));
  return {
    manifest,
    tag,
    lastModified: modifiedAt(site, manifest),
    licenseUrl: /\s/.test(manifest.license) ? null : webAddress(manifest.license),
    ranks,
    pieces: (format) => pieces.get(format),
    file: (path) => files.get(path),
    plannedExport: (region, category, format) => {
      const slug = region === null ? null : slugs.get(region);
      return slug === undefined ? undefined : files.get(exportPath(slug, category, format));
    },
    ...lifetime(opened),
  };
}

/** Not the date of the data alone: another program's bytes of the same data must reach whoever has only a date to compare. */
function modifiedAt(site: string, { date }: Manifest): string {
  return new Date(Math.max(Date.parse(date), statSync(join(site, MANIFEST)).mtimeMs)).toUTCString();
}

function findPieces(
  format: FormatName,
  files: ReadonlyMap<string, ReleaseFile>,
  ranks: Ranks | null,
): Pieces | undefined {
  const whole = files.get(exportPath(null, null, format))?.plain;
  const compressed = files.get(piecesPath(format))?.plain;
  const index = ranks?.pieces(format);
  if (ranks === null || whole === undefined || compressed === undefined || index === undefined)
    return undefined;
  const separator = Buffer.from(formats[format].separator);
  return { whole, offsets: ranks.offsets(format), compressed, index, separator };
}

function* readDatabase(site: string, manifest: Manifest): Steps<Buffer> {
  const entry = manifest.files.find((file) => file.path === manifest.database);
  if (entry === undefined) throw damaged(join(site, manifest.database), "it is not in the manifest");
  const path = join(site, entry.path);
  const file = openSync(path, "r");
  try {
    return yield* readChecked(file, entry, path);
  } finally {
    closeSync(file);
  }
}
