/** The files of a release as a server gives them: each with its compressed forms, and each of those under its own name. */

import { createHash } from "node:crypto";
import { etagOf } from "../answer.js";
import { type Coding, codedMediaTypes, codingNames, codings } from "../bytes/compress.js";
import { type FileBody, memoryBody } from "./bodies.js";
import { MANIFEST, type ManifestFile, manifestForms } from "./manifest.js";

export interface ReleaseFile {
  readonly path: string;
  readonly mediaType: string;
  readonly plain: FileBody;
  /** The compressed forms there are. */
  readonly coded: Readonly<Partial<Record<Coding, FileBody>>>;
  readonly codings: readonly Coding[];
}

/** By path; `bodies` are the opened forms of the files, by theirs. */
export function servedFiles(
  files: readonly ManifestFile[],
  bodies: ReadonlyMap<string, FileBody>,
): Map<string, ReleaseFile> {
  const served = new Map<string, ReleaseFile>();
  for (const { path, mediaType, codings: forms } of files) {
    const coded: Partial<Record<Coding, FileBody>> = {};
    for (const coding of codingNames) {
      const body = bodies.get(path + codings[coding]);
      const form = forms[coding];
      if (body === undefined || form === undefined) continue;
      coded[coding] = body;
      const own = { ...body, coding: null, etag: contentTag(form.sha256) };
      served.set(path + codings[coding], asItIs(path + codings[coding], coding, own));
    }
    const plain = bodies.get(path) as FileBody;
    served.set(path, { path, mediaType, plain, coded, codings: Object.keys(coded) as Coding[] });
  }
  return served;
}

/** A compressed form under its own name is a file like any other: nothing is to be undone by the client. */
function asItIs(path: string, coding: Coding, plain: FileBody): ReleaseFile {
  return { path, mediaType: codedMediaTypes[coding], plain, coded: {}, codings: [] };
}

function contentTag(hash: string): string {
  return etagOf(hash.slice(0, 24), null);
}

/** The manifest, which is not in the manifest, and its compressed forms under their own names: mirrors ask for them. */
export function manifestFiles(site: string, bytes: Buffer, tag: string): ReleaseFile[] {
  const coded = manifestForms(site, bytes);
  const asCoding = coded.map(
    ({ coding, body }) => [coding, memoryBody(body, coding, etagOf(tag, coding))] as const,
  );
  const own = coded.map(({ coding, body }) => {
    const hash = createHash("sha256").update(body).digest("base64url");
    return asItIs(MANIFEST + codings[coding], coding, memoryBody(body, null, contentTag(hash)));
  });
  const plain: ReleaseFile = {
    path: MANIFEST,
    mediaType: "application/json",
    plain: memoryBody(bytes, null, etagOf(tag, null)),
    coded: Object.fromEntries(asCoding),
    codings: coded.map(({ coding }) => coding),
  };
  return [plain, ...own];
}
