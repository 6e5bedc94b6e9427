/** A release as objects to be put, each with the headers that it is to be served with, and the order they go in. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codedMediaTypes, codingNames, codings, type FileForm } from "../bytes/compress.js";
import { UserError } from "../errors.js";
import { headersOf } from "../hosts/rules.js";
import {
  MANIFEST,
  type Manifest,
  type ManifestFile,
  manifestForms,
  readManifest,
  SIGNATURE,
  verifyRelease,
} from "../release/manifest.js";
import { INVENTORY } from "./inventory.js";
import { LOCK, type PublishObject } from "./targets/target.js";

export interface OfferedRelease {
  readonly manifest: Manifest;
  readonly objects: readonly PublishObject[];
}

/**
 * Every object of the release in `site`, the manifest included. `gzip`: the gzip form goes under the plain name, for hosts
 * that do not compress. Throws UserError `damaged` where a file differs from the manifest.
 */
export async function offerRelease(
  site: string,
  { gzip }: { readonly gzip: boolean },
): Promise<OfferedRelease> {
  const { faults } = await verifyRelease(site);
  if (faults.length > 0)
    throw new UserError("damaged", `${site} differs from its manifest and is not published.`, faults);
  // Where the release was exchanged since, the files are checked against this one as they go.
  const { manifest, bytes } = readManifest(site);
  const clash = manifest.files.find(({ path }) => path === INVENTORY || path === LOCK);
  if (clash !== undefined) throw new UserError("damaged", `A release cannot hold ${clash.path}.`);
  // A copy of a release from a host that keeps its files to itself lacks them, and is whole.
  const files = manifest.files.filter(({ path, hostOnly }) => !hostOnly || existsSync(join(site, path)));
  const objects = [...files, ...manifestFiles(site, bytes)].flatMap((file) => objectsOf(site, file, gzip));
  return { manifest, objects };
}

/** Data first, then the pages that link to them, what the host reads, and the manifest last: it never names what is not there. */
export const stages = ["data", "pages", "host", "beside the manifest", "manifest"] as const;
type Stage = (typeof stages)[number];

/** Where in `stages` the content ends. */
export const MANIFEST_STAGES = stages.indexOf("beside the manifest");

/** The stage in which an object goes. */
export function stageOf({ path, mediaType }: PublishObject): Stage {
  if (path === MANIFEST) return "manifest";
  if (path.startsWith(`${MANIFEST}.`)) return "beside the manifest";
  if (/^(_headers|_redirects|\.nojekyll|404\.html|deploy\/.*)$/.test(path)) return "host";
  return /^text\/(html|css|javascript)/.test(mediaType) ? "pages" : "data";
}

/** The manifest with its compressed forms, and its signature where there is one. */
function manifestFiles(site: string, bytes: Buffer): ManifestFile[] {
  const forms = manifestForms(site, bytes).map(({ coding, body }) => [coding, measure(body)]);
  const self = { path: MANIFEST, mediaType: "application/json", ...measure(bytes) };
  const signature = join(site, SIGNATURE);
  return [
    { ...self, codings: Object.fromEntries(forms) },
    ...(existsSync(signature)
      ? [{ path: SIGNATURE, mediaType: "text/plain", ...measure(readFileSync(signature)), codings: {} }]
      : []),
  ];
}

function measure(bytes: Buffer): FileForm {
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** A file and its compressed forms. */
function objectsOf(site: string, file: ManifestFile, gzip: boolean): PublishObject[] {
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
