/** Where the files of a release stand that a request is answered from. */

import type { FileFormatName, FormatName } from "../formats/index.js";
import type { Category } from "../taxonomy.js";

/** Where the export of a selection stands: `exports/{region}/{category}.{format}`, `all` for null. */
export function exportPath(
  regionSlug: string | null,
  category: Category | null,
  format: FileFormatName,
): string {
  return `exports/${regionSlug ?? "all"}/${category ?? "all"}.${format}`;
}

/** Name under which a file of places is saved: `exports/aragon/5.simple.gpx` as `places-aragon-5.simple.gpx`. */
export function saveName(path: string): string {
  return path.replace(/^exports\//, "places/").replaceAll("/", "-");
}

/** Where the pieces of a format stand in a release. */
export function piecesPath(format: FormatName): string {
  return `pieces/${format}.deflate`;
}
