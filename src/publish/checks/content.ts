/** Are the files there, are they the ones the manifest names, and are they called what they are? */

import type { ManifestFile } from "../../release/manifest.js";
import type { Reply } from "./ask.js";
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
  const isType = essence(type) === essence(file.mediaType);
  const isUtf8 =
    !file.mediaType.includes("charset") || /charset="?utf-8/i.test(type) || /\bxml\b/.test(essence(type));
  const isRight = isType && isUtf8;
  const consequence = isType
    ? "accents and names in other scripts may turn to noise"
    : "phones and browsers do not know which app opens it";
  const breaks = `it should be ${file.mediaType}: ${consequence}`;
  return finding("content type", file.path, { isRight, found: shown(type), breaks, worst: "broken" });
}

/** An unknown address must be 404: a page with 200 would be taken for data. Tiles without places are such addresses too. */
export const missing: Check = async (copy) => {
  const path = "exports/no-such-region/all.geojson";
  const reply = await copy.ask(path, { Origin: ELSEWHERE });
  const { status } = reply;
  const isMissing = status === 404 || status === 410;
  const breaks =
    "programs take an error page for an export, and mirrors for a file: an unknown address must be 404";
  return [
    finding("missing file", path, {
      isRight: isMissing,
      found: `status ${status}`,
      breaks,
      worst: status < 400 ? "danger" : "broken",
    }),
    ...(isMissing
      ? [
          originOf(
            "missing file, any origin",
            path,
            reply,
            "maps on other sites take a tile without places for a broken line",
          ),
        ]
      : []),
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
  const { path } = copy.sample;
  const reply = await copy.ask(path, { Origin: ELSEWHERE });
  const breaks = "maps and pages on other sites cannot load the data: send Access-Control-Allow-Origin: *";
  return [originOf("any origin (CORS)", path, reply, breaks)];
};

const ELSEWHERE = "https://map.example.org";

function originOf(about: string, path: string, reply: Reply, breaks: string): Finding {
  const allowed = header(reply, "access-control-allow-origin");
  const isRight = allowed === "*" || allowed === ELSEWHERE;
  return finding(about, path, { isRight, found: shown(allowed), breaks, worst: "broken" });
}

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
