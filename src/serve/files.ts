/**
 * The files of a release over HTTP, with ranges, conditions and codings; and, through sirv, whatever else the operator put
 * into the folder. Files of the manifest do not go through sirv: it reads them by name at request time, so that a release
 * that is exchanged in between would be answered with the headers of one generation and the bytes of another.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import parseRange from "range-parser";
import sirv from "sirv";
import {
  type Answer,
  cacheableHeaders,
  negotiateCoding,
  problem,
  type RequestHeaders,
  unlessFresh,
} from "../answer.js";
import { PAGE_HEADER_POLICY } from "../hosts/policy.js";
import type { FileBody } from "../release/bodies.js";
import { MANIFEST } from "../release/manifest.js";
import type { Release } from "../release/release.js";
import type { ReleaseFile } from "../release/served.js";
import { answerEmptyTile, answerTileJson } from "./tileanswer.js";

const FILE_METHODS = "GET, HEAD, OPTIONS";

/** The answer for a path of the release; null when the release has no such file. `path` is decoded and begins with `/`. */
export function answerFile(
  release: Release,
  method: string,
  path: string,
  headers: RequestHeaders,
): Answer | null {
  const file = release.file(path.endsWith("/") ? `${path.slice(1)}index.html` : path.slice(1));
  const emptyTile = file === undefined ? answerEmptyTile(release, path.slice(1)) : null;
  if (file === undefined && emptyTile === null) return null;
  const refused = answerMethod(method);
  if (refused !== null) return refused;
  if (file === undefined) return emptyTile;
  const answer =
    answerTileJson(release, file, headers) ??
    (headers["range"] === undefined ? wholeFile(release, file, headers) : fileRange(release, file, headers));
  return method === "HEAD" ? { ...answer, body: [] } : answer;
}

/** 204 for OPTIONS, 405 for what files do not answer, else null. */
function answerMethod(method: string): Answer | null {
  if (method === "GET" || method === "HEAD") return null;
  if (method !== "OPTIONS")
    return problem(405, `Files answer ${FILE_METHODS} only.`, { headers: { Allow: FILE_METHODS } });
  return {
    status: 204,
    headers: {
      ...cacheableHeaders("stable"),
      Allow: FILE_METHODS,
      "Access-Control-Allow-Methods": FILE_METHODS,
      "Access-Control-Allow-Headers": "Range, If-None-Match, If-Range, If-Modified-Since",
      "Access-Control-Max-Age": "86400",
    },
    body: [],
  };
}

function wholeFile(release: Release, file: ReleaseFile, headers: RequestHeaders): Answer {
  const coding = negotiateCoding(headers, file.codings);
  const body = (coding === null ? undefined : file.coded[coding]) ?? file.plain;
  return unlessFresh(headers, {
    status: 200,
    headers: prepared(body, () => ({
      ...fileHeaders(release, file),
      ETag: body.etag,
      "Content-Length": String(body.length),
      ...(body.coding !== null && { "Content-Encoding": body.coding }),
    })),
    body: [body.slice(0, body.length)],
  });
}

const whole = new WeakMap<FileBody, Readonly<Record<string, string>>>();

/** Headers of a whole file are put together when it is first asked for. */
function prepared(body: FileBody, make: () => Record<string, string>): Readonly<Record<string, string>> {
  let headers = whole.get(body);
  if (headers === undefined) {
    headers = make();
    whole.set(body, headers);
  }
  return headers;
}

/** RFC 9110, 14: ranges are of the plain form; several at once, or a malformed header, get the whole file. */
function fileRange(release: Release, file: ReleaseFile, headers: RequestHeaders): Answer {
  const { plain } = file;
  const common = { ...fileHeaders(release, file), ETag: plain.etag };
  const whole: Answer = {
    status: 200,
    headers: { ...common, "Content-Length": String(plain.length) },
    body: [plain.slice(0, plain.length)],
  };
  const checked = unlessFresh(headers, whole);
  if (checked.status === 304 || !isRangeWanted(headers["if-range"], plain.etag, release.lastModified))
    return checked;
  const ranges = parseRange(plain.length, capSuffix(String(headers["range"]), plain.length));
  if (ranges === -1) {
    return problem(416, `The file has ${plain.length} bytes.`, {
      headers: { "Content-Range": `bytes */${plain.length}`, "Accept-Ranges": "bytes" },
    });
  }
  const range = ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1 ? undefined : ranges[0];
  if (range === undefined) return whole;
  const { start, end } = range;
  return {
    status: 206,
    headers: {
      ...common,
      "Content-Range": `bytes ${start}-${end}/${plain.length}`,
      "Content-Length": String(end - start + 1),
    },
    body: [plain.slice(start, end + 1)],
  };
}

/** RFC 9110, 14.1.2: a suffix longer than the file means all of it; the parser would call it unsatisfiable. */
function capSuffix(range: string, length: number): string {
  const wanted = /^bytes=-(\d+)$/.exec(range)?.[1];
  return wanted !== undefined && Number(wanted) > length ? `bytes=-${length}` : range;
}

/** RFC 9110, 13.1.5: an ETag that matches strongly, or exactly the date that we send. */
function isRangeWanted(ifRange: string | string[] | undefined, etag: string, lastModified: string): boolean {
  return ifRange === undefined || ifRange === etag || ifRange === lastModified;
}

function fileHeaders(release: Release, file: ReleaseFile): Record<string, string> {
  return {
    ...cacheableHeaders(file.path.startsWith(MANIFEST) ? "manifest" : "stable"),
    "Content-Type": file.mediaType,
    "Last-Modified": release.lastModified,
    "Accept-Ranges": "bytes",
    ...(file.mediaType.startsWith("text/html") && { "Content-Security-Policy": PAGE_HEADER_POLICY }),
  };
}

/** Sends a file that is in the folder but not in the manifest (robots.txt, a logo), or calls `missing`. */
export type OtherFiles = (request: IncomingMessage, response: ServerResponse, missing: () => void) => void;

/** sirv, wrapped where it is wrong: methods, ranges, empty content types. Lists the folder once. */
export function otherFiles(site: string): OtherFiles {
  const send = sirv(site, {
    extensions: [], // else it would answer `/index` with a file of the manifest
    etag: false, // its ETag is size and time, not content
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(cacheableHeaders("stable"))) response.setHeader(name, value);
    },
  });
  return (request, response, missing) => {
    // sirv answers any method with 200, and takes `bytes=0-0` for the whole file and `bytes=-500` for its beginning.
    if (request.method !== "GET" && request.method !== "HEAD") return missing();
    delete request.headers.range;
    request.url = request.url?.replace(/^\/(?=\?|$)/, "/index.html"); // of a copy whose own page is still to come
    send(request, response, missing);
  };
}
