/** Are the files there, are they the ones the manifest names, and are they called what they are? */

import type { ManifestFile } from "../manifest.js";
import { type Check, type Copy, type Finding, finding, header, sha256, shown } from "./check.js";

/** Bytes and media type of one file of each kind. */
export const files: Check = async (copy) =>
  (await Promise.all(copy.samples.map((file) => checkFile(copy, file)))).flat();

async function checkFile(copy: Copy, file: ManifestFile): Promise<Finding[]> {
  // Hosts send index.html for its folder, and some nothing but a redirect for its name.
  const path = file.path.replace(/(^|\/)index\.html$/, "$1");
  const reply = await copy.ask(path, { "Accept-Encoding": "identity" });
  const isSame = reply.status === 200 && sha256(reply.body) === file.sha256;
  const content = finding("content", file.path, {
    isRight: isSame,
    found: isSame ? "as in the manifest" : `status ${reply.status}, ${reply.body.length} bytes`,
    breaks:
      reply.status === 200
        ? "readers get other bytes than were published: old, altered or damaged"
        : "readers do not get the file",
    worst: "danger",
  });
  if (reply.status !== 200) return [content];
  return [content, typeOf(file, header(reply, "content-type"))];
}

function typeOf(file: ManifestFile, type: string): Finding {
  const essence = (text: string): string => (text.split(";")[0] ?? "").trim().toLowerCase();
  const isUtf8 =
    !file.mediaType.includes("charset") || /charset="?utf-8/i.test(type) || /\bxml\b/.test(essence(type));
  const isRight = essence(type) === essence(file.mediaType) && isUtf8;
  const breaks = isUtf8
    ? `it should be ${file.mediaType}: phones and browsers do not know which app opens it`
    : `it should be ${file.mediaType}: accents and names in other scripts may turn to noise`;
  return finding("content type", file.path, { isRight, found: shown(type), breaks, worst: "broken" });
}

/** An unknown address must be 404: a page with 200 would be taken for data. */
export const missing: Check = async (copy) => {
  const path = "exports/no-such-region/all.geojson";
  const { status } = await copy.ask(path);
  const breaks =
    "programs take an error page for an export, and mirrors for a file: an unknown address must be 404";
  return [
    finding("missing file", path, {
      isRight: status === 404 || status === 410,
      found: `status ${status}`,
      breaks,
      worst: status < 400 ? "danger" : "broken",
    }),
  ];
};

/** A compressed form under its own name is a file: sent as it is, without a Content-Encoding. */
export const compressedNames: Check = async (copy) => {
  const form = copy.sample.codings.gzip;
  if (form === undefined) return [];
  const path = `${copy.sample.path}.gz`;
  const reply = await copy.ask(path, { "Accept-Encoding": "gzip, br" });
  const coding = header(reply, "content-encoding");
  const isRight = reply.status === 200 && coding === "" && sha256(reply.body) === form.sha256;
  const found = reply.status === 200 ? `Content-Encoding: ${shown(coding)}` : `status ${reply.status}`;
  const breaks =
    "clients unpack it unasked and save something else under this name; mirrors load the plain files instead, 3 to 8 times the bytes";
  return [finding("compressed form", path, { isRight, found, breaks, worst: "broken" })];
};

/** Pages of other sites may read everything. */
export const anyOrigin: Check = async (copy) => {
  const reply = await copy.ask(copy.sample.path, { Origin: "https://map.example.org" });
  const allowed = header(reply, "access-control-allow-origin");
  const isRight = allowed === "*" || allowed === "https://map.example.org";
  const breaks = "maps and pages on other sites cannot load the data: send Access-Control-Allow-Origin: *";
  return [
    finding("any origin (CORS)", copy.sample.path, {
      isRight,
      found: shown(allowed),
      breaks,
      worst: "broken",
    }),
  ];
};

/** Positions over an open line can be changed on the way; local networks have no certificates. */
export const safeLine: Check = async (copy) => {
  const { protocol, hostname } = new URL(copy.base);
  const isLocal =
    /^(localhost|\[::1\]|\[f[cd].*|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|.*\.local|[^.]+)$/.test(
      hostname,
    );
  if (protocol === "https:" || isLocal) return [];
  const breaks =
    "whoever is on the line can move a hut; pages cannot work offline or use the position: serve it over https";
  return [finding("https", "", { isRight: false, found: protocol, breaks, worst: "broken" })];
};
