/** Settings for hosts that read them from outside the release: nginx, Caddy, S3. The same rules as everywhere else. */

import { codings } from "../bytes/compress.js";
import type { HeaderRule } from "./rules.js";

/** For `include` inside a `server` block whose `root` is the release. */
export function nginxSnippet(rules: readonly HeaderRule[], api: string | null): string {
  return `# Inside a server block: root /srv/shelters; include /srv/shelters/deploy/nginx.conf;
# Compressed forms lie beside the files. Brotli needs ngx_brotli; with it: brotli_static on;
gzip_static on;
gzip_vary on;
etag on;
charset off;
index index.html;

${locations(rules)}
${nginxApi(api)}
`;
}

/**
 * nginx sends a Content-Type by extension; "types {}" with a default_type sets ours for the files of one rule. Errors get the
 * headers too, so that pages of other sites can tell them apart, but no leave to be kept: the file may be there tomorrow.
 */
function locations(rules: readonly HeaderRule[]): string {
  return rules
    .map(({ pattern, headers }) => {
      const { "Content-Type": type, ...others } = headers;
      const added = Object.entries(others).map(
        ([name, value]) => `  add_header ${name} "${value}"${name === "Cache-Control" ? "" : " always"};\n`,
      );
      const isCoded = Object.values(codings).some((ending) => pattern.endsWith(ending));
      const matched = isExact(pattern) ? `= ${pattern}` : `~ ${regexOf(pattern)}`;
      return `location ${matched} {\n  types { }\n  default_type "${type}";\n${isCoded ? "  gzip_static off;\n" : ""}${added.join("")}}\n`;
    })
    .join("");
}

function isExact(pattern: string): boolean {
  return !/[*:]/.test(pattern);
}

function regexOf(pattern: string): string {
  const path = pattern
    .replace(/[.+?^$()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/:[a-z0-9]+/g, "[^/]+");
  return `^${path}$`;
}

function nginxApi(api: string | null): string {
  return api === null
    ? `location = /api.php {\n  add_header Access-Control-Allow-Origin "*" always;\n  return 404;\n}`
    : `location = /api.php {\n  proxy_pass ${api};\n  proxy_ssl_server_name on;\n}`;
}

/** For `import` inside a site block. */
export function caddySnippet(rules: readonly HeaderRule[], api: string | null): string {
  const sets = rules.map(({ pattern, headers }, index) => {
    const matcher = isExact(pattern) ? `path ${pattern}` : `path_regexp ${regexOf(pattern)}`;
    const lines = Object.entries(headers).map(([name, value]) => `  ${name} "${value}"\n`);
    return `@files${index} ${matcher}\nheader @files${index} {\n${lines.join("")}  defer\n}\n`;
  });
  const forward = api === null ? null : new URL(api);
  const handed =
    forward === null
      ? "header /api.php Access-Control-Allow-Origin *\nrespond /api.php 404\n"
      : `handle /api.php {\n  rewrite * ${forward.pathname}\n  reverse_proxy ${forward.origin} {\n    header_up Host {upstream_hostport}\n  }\n}\n`;
  // Those of a rule are set when the file is sent; this one at once, so that an error has it too.
  const always = `@ours not path /api.php\nheader @ours Access-Control-Allow-Origin *\n`;
  return `# Inside a site block: root * /srv/shelters, then: import /srv/shelters/deploy/Caddyfile
${always}${sets.join("")}${handed}file_server {
  precompressed br gzip
  hide ${["_headers", "_redirects"].join(" ")}
}
`;
}

/** For `aws s3api put-bucket-cors --bucket NAME --cors-configuration file://s3-cors.json`. */
export function s3Cors(): string {
  const rule = {
    AllowedOrigins: ["*"],
    AllowedMethods: ["GET", "HEAD"],
    AllowedHeaders: ["*"],
    ExposeHeaders: ["ETag", "Content-Length", "Content-Range", "Accept-Ranges"],
    MaxAgeSeconds: 86_400,
  };
  return `${JSON.stringify({ CORSRules: [rule] }, null, 1)}\n`;
}

/** For `aws s3api put-bucket-policy`: anybody may read objects, nobody may list or write. BUCKET is to be replaced. */
export function s3Policy(): string {
  const statement = {
    Sid: "PublicRead",
    Effect: "Allow",
    Principal: "*",
    Action: "s3:GetObject",
    Resource: "arn:aws:s3:::BUCKET/*",
  };
  return `${JSON.stringify({ Version: "2012-10-17", Statement: [statement] }, null, 1)}\n`;
}
