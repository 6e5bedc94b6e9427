/** What a publish would do: which objects are new, changed or unneeded, in which order they go, and what a cache must forget. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codingNames, codings } from "./compress.js";
import { UserError } from "./errors.js";
import { INVENTORY, type Inventory, publishedManifest, readInventory } from "./inventory.js";
import { MANIFEST, type Manifest, type ManifestFile, readManifest, verifyRelease } from "./manifest.js";
import { codedMediaTypes, headersOf } from "./rules.js";
import type { PublishObject, Target } from "./targets/target.js";

export interface PlanOptions {
  readonly site: string;
  readonly target: Target;
  /** Store the gzip form under the plain name, for hosts that do not compress. */
  readonly gzip: boolean;
  /** Overwrite foreign objects and newer releases. */
  readonly force: boolean;
  /** Milliseconds for which an object that no manifest names is kept. */
  readonly grace: number;
  /** Now, in milliseconds since 1970. */
  readonly now: number;
}

export interface PublishPlan {
  readonly manifest: Manifest;
  /** What is to be put, in order; every stage ends before the next one begins. The manifest is the last stage. */
  readonly stages: readonly (readonly PublishObject[])[];
  readonly new: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Ours, named by no manifest for longer than the grace time: removed after the manifest was put. */
  readonly deletable: readonly string[];
  /** Ours and unneeded, kept until the grace time is over. */
  readonly waiting: readonly string[];
  /** Paths whose content changes under the same name. */
  readonly purge: readonly string[];
  readonly inventory: Inventory;
}

/**
 * Compares a release with a target; writes nothing. Throws UserError: `damaged` (the release is not whole), `refused`
 * (foreign objects in the way, or a newer release there), `system` (the target cannot be read).
 */
export async function planPublish(options: PlanOptions): Promise<PublishPlan> {
  const { site, target, gzip, force } = options;
  const { faults } = await verifyRelease(site);
  if (faults.length > 0)
    throw new UserError("damaged", `${site} differs from its manifest and is not published.`, faults);
  const { manifest } = readManifest(site);
  const objects = objectsOf(site, manifest, gzip);
  const found = await target.list();
  const published = await publishedManifest(target, found);
  if (!force && published !== null && published.date > manifest.date) {
    const older = `${target.title} has data of ${published.date}, ${site} of ${manifest.date}`;
    throw new UserError("refused", `${older}: an older release is put with --force only.`);
  }
  const inventory = await readInventory(target, found, published);
  const foreign = objects.filter(({ path }) => found.has(path) && !inventory.has(path));
  if (!force && foreign.length > 0) {
    const summary = `${target.title} has objects of the same names that were not published from here. Choose another place, or overwrite them with --force.`;
    const named = foreign.slice(0, 20).map(({ path }) => path);
    throw new UserError("refused", summary, named);
  }
  return compare(options, manifest, objects, found, inventory);
}

/** Headers that an object is put with, as one text. */
export function settingsOf({ mediaType, cacheControl, contentEncoding }: PublishObject): string {
  return [mediaType, cacheControl, contentEncoding ?? ""].join(" | ");
}

function compare(
  { grace, now }: PlanOptions,
  manifest: Manifest,
  objects: readonly PublishObject[],
  found: ReadonlyMap<string, string>,
  inventory: Inventory,
): PublishPlan {
  const isUnchanged = (object: PublishObject): boolean => {
    const entry = inventory.get(object.path);
    return (
      entry !== undefined &&
      entry.mark !== null &&
      entry.mark === found.get(object.path) &&
      entry.sha256 === object.sha256 &&
      entry.settings === settingsOf(object)
    );
  };
  const puts = objects.filter((object) => !isUnchanged(object));
  const needed = new Set(objects.map(({ path }) => path));
  const isDue = (path: string): boolean => {
    const since = inventory.get(path)?.unneededSince ?? null;
    return now - (since === null ? now : Date.parse(since)) >= grace;
  };
  // Whoever wrote over an object of ours made it theirs: it is left alone.
  const unneeded = [...inventory]
    .filter(([path, { mark }]) => !needed.has(path) && (mark === null || mark === found.get(path)))
    .map(([path]) => path)
    .filter((path) => found.has(path));
  const deletable = unneeded.filter(isDue);
  const paths = puts.map(({ path }) => path);
  const changed = paths.filter((path) => found.has(path));
  return {
    manifest,
    stages: [0, 1, 2, 3, 4].map((stage) => puts.filter((object) => stageOf(object) === stage)),
    new: paths.filter((path) => !found.has(path)),
    changed,
    unchanged: objects.map(({ path }) => path).filter((path) => !paths.includes(path)),
    deletable,
    waiting: unneeded.filter((path) => !isDue(path)),
    purge: [...changed, ...deletable].flatMap((path) =>
      path.endsWith("index.html") ? [path.slice(0, -"index.html".length), path] : [path],
    ),
    inventory,
  };
}

/** Data first, then the pages that link to them, what the host reads, and the manifest last: it never names what is not there. */
function stageOf({ path, mediaType }: PublishObject): number {
  if (path === MANIFEST) return 4;
  if (path.startsWith(`${MANIFEST}.`)) return 3;
  if (/^(_headers|_redirects|\.nojekyll|404\.html|deploy\/.*)$/.test(path)) return 2;
  return /^text\/(html|css|javascript)/.test(mediaType) ? 1 : 0;
}

/** Every object of a release, the manifest included. */
function objectsOf(site: string, manifest: Manifest, gzip: boolean): PublishObject[] {
  const self = { path: MANIFEST, mediaType: "application/json", ...measure(join(site, MANIFEST)) };
  const forms = codingNames.map((coding) => [coding, measure(join(site, MANIFEST + codings[coding]))]);
  const files: readonly ManifestFile[] = [...manifest.files, { ...self, codings: Object.fromEntries(forms) }];
  const clash = files.find(({ path }) => path === INVENTORY);
  if (clash !== undefined) throw new UserError("damaged", `A release cannot hold ${INVENTORY}.`);
  return files.flatMap((file) => formsOfObject(site, file, gzip));
}

function formsOfObject(site: string, file: ManifestFile, gzip: boolean): PublishObject[] {
  const { path, mediaType } = file;
  const zipped = gzip && path !== MANIFEST && isReadWhole(mediaType) ? file.codings.gzip : undefined;
  const cacheControl = headersOf(path, mediaType)["Cache-Control"] ?? "";
  const plain: PublishObject = {
    path,
    file: join(site, zipped === undefined ? path : path + codings.gzip),
    bytes: (zipped ?? file).bytes,
    sha256: (zipped ?? file).sha256,
    mediaType,
    cacheControl,
    contentEncoding: zipped === undefined ? null : "gzip",
  };
  const coded = codingNames.flatMap((coding) => {
    const form = file.codings[coding];
    if (form === undefined) return [];
    const own = path + codings[coding];
    const { bytes, sha256 } = form;
    const type = codedMediaTypes[coding];
    return [
      { ...plain, path: own, file: join(site, own), bytes, sha256, mediaType: type, contentEncoding: null },
    ];
  });
  return [plain, ...coded];
}

/** Databases and tile archives are read in ranges, which are of the stored bytes. */
function isReadWhole(mediaType: string): boolean {
  return !/sqlite|pmtiles|geopackage|zip/.test(mediaType);
}

function measure(path: string): { readonly bytes: number; readonly sha256: string } {
  const bytes = readFileSync(path);
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
