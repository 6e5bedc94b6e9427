/** What a mirror lacks of a release, in the order in which it is most useful, and the fewest bytes that bring it. */

import { type Coding, codingNames, codings, type FileForm } from "../bytes/compress.js";
import { UserError } from "../errors.js";
import { formsOf, type Manifest, type ManifestFile } from "../release/manifest.js";

export interface Form extends FileForm {
  readonly path: string;
  /** null = the plain form. */
  readonly coding: Coding | null;
}

/** A file of which some form is lacking. */
export interface Job {
  readonly file: ManifestFile;
  readonly lacking: readonly Form[];
  /** Forms that bring the plain one, the smallest first; empty when it is at hand. */
  readonly ways: readonly Form[];
  /** To be fetched, as far as is known before: compressed forms are made here where that gives the same bytes. */
  readonly bytes: number;
}

export interface MirrorPlan {
  /** The most useful first. */
  readonly jobs: readonly Job[];
  /** To be fetched. */
  readonly bytes: number;
  /** Of all plain files of the release. */
  readonly releaseBytes: number;
  /** Of all lacking forms, on disk. */
  readonly diskBytes: number;
}

/** The whole data in one file: everything else can be rebuilt from it. */
export const WHOLE = "exports/all/all.geojson";

/** What the page needs to list, search and show places; its map comes last, when the tiles are there. */
const PAGE: readonly string[] = ["index.html", "app.js", "style.css", "page.json", "index.json", "icon.svg"];
const MAP_PROGRAM = "maplibre-gl.mjs";

/** What is most useful first, when a line or a budget brings only a part. The first pattern that fits decides. */
const USEFUL_FIRST: readonly RegExp[] = [
  /^exports\/all\/[65]\.(geojson|gpx)$/, // staffed refuges
  /^exports\/all\/[23]\.(geojson|gpx)$/, // open huts
  /^terms\.txt$/,
  /^exports\/all\/all\.(compact\.)?geojson$/, // everything, in one compact file
  new RegExp(`^(${PAGE.join("|").replaceAll(".", "\\.")})$`),
  /^index\.sqlite$/, // what the server needs for boxes and pages
  /^exports\/all\/all\.(gpx|json|csv|kml)$/,
  /^changes\//,
  /^exports\/all\//,
  /^exports\//,
  /^(tiles\.json|tiles\/.*)$/,
  /^(?!maplibre|mapstyle|basemap)/,
];

/** Every form of a file, the plain one first. */
export function formsOfJob(file: ManifestFile): Form[] {
  const plain: Form = { path: file.path, bytes: file.bytes, sha256: file.sha256, coding: null };
  const coded = codingNames.flatMap((coding) => {
    const form = file.codings[coding];
    return form === undefined ? [] : [{ path: file.path + codings[coding], ...form, coding }];
  });
  return [plain, ...coded];
}

/** `has`: contents at hand by hash; `partBytes`: what has come of others already. Throws UserError `source`. */
export function planMirror(
  manifest: Manifest,
  has: (sha256: string) => boolean,
  partBytes: (sha256: string) => number,
): MirrorPlan {
  checkForms(manifest);
  const jobs: Job[] = [];
  const seen = new Set<string>();
  for (const file of manifest.files) {
    if (file.hostOnly) continue; // hosts keep these to themselves
    const forms = formsOfJob(file);
    const lacking = forms.filter(({ sha256 }) => !has(sha256));
    if (lacking.length === 0) continue;
    const ways = has(file.sha256) ? [] : [...forms].sort((a, b) => a.bytes - b.bytes);
    const [way] = ways;
    const isCounted = way === undefined || seen.has(way.sha256);
    const bytes = isCounted ? 0 : Math.max(0, way.bytes - partBytes(way.sha256));
    if (way !== undefined) seen.add(way.sha256);
    jobs.push({ file, lacking, ways, bytes });
  }
  jobs.sort((a, b) => usefulness(a.file.path) - usefulness(b.file.path) || a.bytes - b.bytes);
  return {
    jobs,
    bytes: sum(jobs.map(({ bytes }) => bytes)),
    releaseBytes: sum(manifest.files.map(({ bytes }) => bytes)),
    diskBytes: sum(jobs.flatMap(({ lacking }) => lacking.map(({ bytes }) => bytes))),
  };
}

/** Position in the table; smaller is more useful. */
export function usefulness(path: string): number {
  const index = USEFUL_FIRST.findIndex((pattern) => pattern.test(path));
  return index === -1 ? USEFUL_FIRST.length : index;
}

/** Hashes become file names of the cache: a manifest from afar is not believed. */
function checkForms(manifest: Manifest): void {
  for (const { path, bytes, sha256 } of formsOf(manifest)) {
    if (/^[0-9a-f]{64}$/.test(sha256) && Number.isSafeInteger(bytes) && bytes >= 0) continue;
    throw new UserError("source", `The manifest of the source has a damaged entry for ${path}.`);
  }
}

/**
 * The manifest of what is there already, of a release that is not complete: of each file the forms at hand, and only files
 * whose plain form is. No page without what it needs, and no map without all its tiles: an empty one says that there is no hut.
 */
export function partialManifest(manifest: Manifest, has: (sha256: string) => boolean): Manifest {
  const wanted = manifest.files.filter(({ hostOnly }) => !hostOnly);
  const here = wanted.filter(({ sha256 }) => has(sha256));
  const hasAll = (isMeant: (path: string) => boolean): boolean =>
    wanted.every(({ path, sha256 }) => !isMeant(path) || has(sha256));
  const isPage = hasAll((path) => PAGE.includes(path));
  const isMap = hasAll((path) => path.startsWith("tiles"));
  const files = here
    .filter(({ path }) => (path !== "index.html" || isPage) && (path !== MAP_PROGRAM || isMap))
    .map((file) => ({
      ...file,
      codings: Object.fromEntries(Object.entries(file.codings).filter(([, form]) => has(form.sha256))),
    }));
  return { ...manifest, files, missing: wanted.length - files.length };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
