/** Header rules by path pattern: every file of a release is matched by exactly one rule, on hosts that merge the rules that match. */

import { cacheableHeaders } from "../answer.js";
import { codedMediaTypes, codingNames, codings } from "../bytes/compress.js";
import { MANIFEST, type ManifestFile, SIGNATURE } from "../release/manifest.js";
import { PAGE_HEADER_POLICY } from "./policy.js";

/** What a rule is made for: a file with a media type; `path` is relative to the release. */
export interface HeaderedFile {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HeaderRule {
  /** `/exact/path`, `/*.extension` (the star crosses slashes) or `/folder/:p1/name` (`:p1` is one segment). */
  readonly pattern: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers of a file on a host that negotiates codings and validators by itself. */
export function headersOf(path: string, mediaType: string): Readonly<Record<string, string>> {
  const isAskedAgain = path === MANIFEST || path === SIGNATURE;
  const { Vary: _, ...common } = cacheableHeaders(isAskedAgain ? "manifest" : "stable");
  return {
    "Content-Type": mediaType,
    ...common,
    ...(mediaType.startsWith("text/html") && { "Content-Security-Policy": PAGE_HEADER_POLICY }),
  };
}

/** Every form of every file, the manifest and its signature too, with its headers. */
export function headeredFiles(
  files: readonly Pick<ManifestFile, "path" | "mediaType" | "codings">[],
): HeaderedFile[] {
  const manifest = { path: MANIFEST, mediaType: "application/json", codings: { gzip: null, br: null } };
  const signature = { path: SIGNATURE, mediaType: "text/plain", codings: {} };
  return [...files, manifest, signature].flatMap(({ path, mediaType, codings: coded }) => [
    { path, headers: headersOf(path, mediaType) },
    ...codingNames
      .filter((coding) => coding in coded)
      .map((coding) => {
        const own = path + codings[coding];
        return { path: own, headers: headersOf(own, codedMediaTypes[coding]) };
      }),
  ]);
}

/** Groups files that share headers under as few patterns as stay disjoint. */
export function rulesFor(files: readonly HeaderedFile[]): HeaderRule[] {
  const byExtension = groupBy(files, ({ path }) => extensionOf(path));
  return [...byExtension].flatMap(([extension, group]) => {
    const pages = group.flatMap(prettyPaths);
    if (extension !== "" && !isEndOfAnother(extension, files) && isUniform(group) && pages.length === 0)
      return [{ pattern: `/*.${extension}`, headers: headersOfFirst(group) }];
    return [...rulesByShape(group), ...pages];
  });
}

function extensionOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1] ?? "";
}

/** Netlify's matcher takes the dot of `/*.json` for any character: the pattern would match `x.geojson` too. */
function isEndOfAnother(extension: string, files: readonly HeaderedFile[]): boolean {
  return files.some(({ path }) => path.endsWith(extension) && extensionOf(path) !== extension);
}

/** A page is served without its extension too, and `index.html` for its folder. */
function prettyPaths({ path, headers }: HeaderedFile): HeaderRule[] {
  if (!path.endsWith(".html")) return [];
  const bare = `/${path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`;
  return [{ pattern: bare, headers }];
}

/** `exports/andorre/all.json` has the shape `/exports/:p1/all.json`. */
function rulesByShape(group: readonly HeaderedFile[]): HeaderRule[] {
  const shapes = groupBy(group, ({ path }) => {
    const parts = path.split("/");
    const last = parts.length - 1;
    return `/${parts.map((part, index) => (index === 0 || index === last ? part : `:p${index}`)).join("/")}`;
  });
  return [...shapes].flatMap(([pattern, some]) =>
    isUniform(some)
      ? [{ pattern, headers: headersOfFirst(some) }]
      : some.map(({ path, headers }) => ({ pattern: `/${path}`, headers })),
  );
}

function isUniform(group: readonly HeaderedFile[]): boolean {
  return new Set(group.map(({ headers }) => JSON.stringify(headers))).size === 1;
}

function headersOfFirst(group: readonly HeaderedFile[]): Readonly<Record<string, string>> {
  return group[0]?.headers ?? {};
}

/** `Map.groupBy`, which Node 20 does not have. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
