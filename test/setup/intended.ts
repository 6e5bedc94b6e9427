/** What every host is to send with every path of a release, said once more and in other words than the program's. */

import { formsOf, MANIFEST, type Manifest, SIGNATURE } from "../../src/release/manifest.js";

const KEPT = "public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800";

/** Headers by address, names in lower case. The addresses of pages that hosts shorten are among them. */
export function intendedHeaders(manifest: Manifest): Map<string, Readonly<Record<string, string>>> {
  const types = new Map(manifest.files.map(({ path, mediaType }) => [path, mediaType]));
  const paths = [...formsOf(manifest)].map(({ path }) => path);
  const hostOnly = manifest.files.filter((file) => file.hostOnly).map(({ path }) => path);
  const own = [MANIFEST, `${MANIFEST}.gz`, `${MANIFEST}.br`, SIGNATURE];
  const intended = new Map<string, Readonly<Record<string, string>>>();
  for (const path of [...paths, ...hostOnly, ...own]) {
    const headers = headersOf(path, typeOf(path, types));
    intended.set(`/${path}`, headers);
    if (path.endsWith(".html"))
      intended.set(`/${path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`, headers);
  }
  return intended;
}

function typeOf(path: string, types: ReadonlyMap<string, string>): string {
  const said = types.get(path);
  if (said !== undefined) return said;
  if (path === MANIFEST) return "application/json";
  if (path === SIGNATURE) return "text/plain";
  return path.endsWith(".gz") ? "application/gzip" : "application/octet-stream";
}

function headersOf(path: string, type: string): Readonly<Record<string, string>> {
  return {
    "content-type": type,
    "cache-control": path === MANIFEST || path === SIGNATURE ? "no-cache" : KEPT,
    "access-control-allow-origin": "*",
    "access-control-expose-headers":
      "ETag, Link, Content-Length, Content-Range, Accept-Ranges, OGC-NumberMatched, OGC-NumberReturned",
    "x-content-type-options": "nosniff",
    ...(type.startsWith("text/html") && { "content-security-policy": PAGE }),
  };
}

const PAGE =
  "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; manifest-src 'self'; " +
  "img-src 'self' data: blob: https://tile.opentopomap.org; connect-src 'self' https://tile.opentopomap.org; " +
  "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
