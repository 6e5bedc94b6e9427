/** One table of static hosts: which files each needs beside the release to serve it right, and its limits, which are kept or said. */

import { codingNames, codings } from "../bytes/compress.js";
import { UserError } from "../errors.js";
import type { ManifestFile } from "../release/manifest.js";
import { type HeaderRule, headeredFiles, rulesFor } from "./rules.js";
import { caddySnippet, nginxSnippet, s3Cors, s3Policy } from "./snippets.js";

/** A file written for a host: it is read there, and need not be served. */
export interface HostFile {
  readonly path: string;
  readonly mediaType: string;
  readonly text: string;
}

/** What a host is told: the rules, and where api.php is answered, null = nowhere. */
interface HostFacts {
  readonly rules: readonly HeaderRule[];
  readonly api: string | null;
}

interface HostLimits {
  readonly files?: number;
  /** Bytes of one file, and of all together. */
  readonly fileBytes?: number;
  readonly totalBytes?: number;
  /** Rules of `_headers`, and characters of one line. */
  readonly rules?: number;
  readonly ruleLine?: number;
}

interface Host {
  readonly title: string;
  readonly limits: HostLimits;
  /** Whether it can hand /api.php on to a server. */
  readonly canForward: boolean;
  readonly files: (facts: HostFacts) => readonly HostFile[];
}

const MIB = 1024 * 1024;

const hosts = {
  cloudflare: {
    title: "Cloudflare",
    // Pages and Workers have the same; a paid plan takes more files.
    limits: { files: 20_000, fileBytes: 25 * MIB, rules: 100, ruleLine: 2000 },
    canForward: true,
    // Without a 404.html Pages answers every unknown address with the page and 200: a client would take it for data.
    files: ({ rules, api }) => [headersFile(rules), notFoundPage, ...redirects(api, 302)],
  },
  netlify: {
    title: "Netlify",
    limits: {},
    canForward: true,
    files: ({ rules, api }) => [headersFile(rules), notFoundPage, ...redirects(api, 200)],
  },
  github: {
    title: "GitHub Pages",
    limits: { fileBytes: 100 * MIB, totalBytes: 1024 * MIB },
    canForward: false,
    files: () => [
      hostOnly(".nojekyll", "text/plain; charset=utf-8", "Files are served as they are.\n"),
      notFoundPage,
    ],
  },
  s3: {
    title: "S3 or a store like it",
    limits: {},
    canForward: false,
    files: () => [
      notFoundPage,
      snippet("s3-cors.json", "application/json", s3Cors()),
      snippet("s3-policy.json", "application/json", s3Policy()),
    ],
  },
  nginx: {
    title: "nginx",
    limits: {},
    canForward: true,
    files: ({ rules, api }) => [snippet("nginx.conf", "text/plain; charset=utf-8", nginxSnippet(rules, api))],
  },
  caddy: {
    title: "Caddy",
    limits: {},
    canForward: true,
    files: ({ rules, api }) => [snippet("Caddyfile", "text/plain; charset=utf-8", caddySnippet(rules, api))],
  },
  none: { title: "any host", limits: {}, canForward: false, files: () => [] },
} as const satisfies Readonly<Record<string, Host>>;

export type HostName = keyof typeof hosts;
export const hostNames = Object.keys(hosts) as HostName[];

/** A file of the release that the host's limits are held against. */
export type PlannedFile = Pick<ManifestFile, "path" | "mediaType" | "codings" | "bytes">;

/**
 * The files that a host needs for a release of `files`. `api`: address of a server's api.php that the host hands
 * requests on to. Throws UserError `usage` where the host cannot do that, or where its limits cannot be kept.
 */
export function hostFiles(name: HostName, files: readonly PlannedFile[], api: string | null): HostFile[] {
  const host: Host = hosts[name];
  if (api !== null && !host.canForward)
    throw new UserError("usage", `${host.title} cannot hand /api.php on to a server: leave --api out.`);
  const rules = rulesFor(headeredFiles(files));
  const made = [...host.files({ rules, api })];
  const faults = [...fileFaults(host.limits, files, made.length), ...ruleFaults(host.limits, rules)];
  if (faults.length === 0) return made;
  const summary = `${host.title} would not take this release. Choose another host with --host, or a smaller selection of places.`;
  throw new UserError("usage", summary, faults);
}

function* fileFaults(
  limits: HostLimits,
  files: readonly PlannedFile[],
  more: number,
): Generator<string, void> {
  const forms = files.flatMap((file) => [
    { path: file.path, bytes: file.bytes },
    ...codingNames.flatMap((coding) => {
      const form = file.codings[coding];
      return form === undefined ? [] : [{ path: file.path + codings[coding], bytes: form.bytes }];
    }),
  ]);
  const count = forms.length + 3 + more; // the manifest has three forms
  if (limits.files !== undefined && count > limits.files) yield `${count} files; it takes ${limits.files}.`;
  for (const { path, bytes } of forms)
    if (limits.fileBytes !== undefined && bytes > limits.fileBytes)
      yield `${path} has ${mebibytes(bytes)}; it takes ${mebibytes(limits.fileBytes)} in one file.`;
  const total = forms.reduce((sum, { bytes }) => sum + bytes, 0);
  if (limits.totalBytes !== undefined && total > limits.totalBytes)
    yield `${mebibytes(total)} in all; it takes ${mebibytes(limits.totalBytes)}.`;
}

function* ruleFaults(limits: HostLimits, rules: readonly HeaderRule[]): Generator<string, void> {
  if (limits.rules !== undefined && rules.length > limits.rules)
    yield `${rules.length} header rules; it takes ${limits.rules}.`;
  for (const { pattern, headers } of rules)
    for (const [header, value] of Object.entries(headers))
      if (limits.ruleLine !== undefined && header.length + value.length + 4 > limits.ruleLine)
        yield `The header ${header} of ${pattern} is longer than ${limits.ruleLine} characters.`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

function hostOnly(path: string, mediaType: string, text: string): HostFile {
  return { path, mediaType, text };
}

function snippet(name: string, mediaType: string, text: string): HostFile {
  return { path: `deploy/${name}`, mediaType, text };
}

function headersFile(rules: readonly HeaderRule[]): HostFile {
  const text = rules.map(
    ({ pattern, headers }) =>
      `${pattern}\n${Object.entries(headers)
        .map(([name, value]) => `  ${name}: ${value}\n`)
        .join("")}`,
  );
  return hostOnly("_headers", "text/plain; charset=utf-8", text.join("\n"));
}

/** 302: a client asks again there; 200: the host asks for it. */
function redirects(api: string | null, status: 200 | 302): HostFile[] {
  if (api === null) return [];
  return [hostOnly("_redirects", "text/plain; charset=utf-8", `/api.php ${api} ${status}\n`)];
}

const notFoundPage = hostOnly(
  "404.html",
  "text/html; charset=utf-8",
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Not found</title></head>
<body><main><h1>Nothing here</h1><p>There is nothing at this address. <a href="/">What there is</a>.</p></main></body>
</html>
`,
);
