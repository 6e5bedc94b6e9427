/** What a tile client needs beyond files: 204 for an empty tile, and TileJSON with the address under which it was asked for. */

import { createHash } from "node:crypto";
import { readSync } from "node:fs";
import {
  type Answer,
  cacheableHeaders,
  etagOf,
  lengthOf,
  type Part,
  problem,
  type RequestHeaders,
  unlessFresh,
} from "../answer.js";
import { TILE_TEMPLATE, TILEJSON } from "../map/tilejson.js";
import type { Release } from "../release/release.js";
import type { ReleaseFile } from "../release/served.js";

/** The answer for an address of a tile that holds nothing, or that has not come yet; null for what is no tile of this release. `path` has no leading `/`. */
export function answerEmptyTile(release: Release, path: string): Answer | null {
  const { maxTileZoom } = release.manifest;
  const numbers = /^tiles\/(\d{1,2})\/(\d{1,8})\/(\d{1,8})\.pbf$/.exec(path)?.slice(1).map(Number);
  if (numbers === undefined || maxTileZoom === undefined) return null;
  const [z = 0, x = 0, y = 0] = numbers;
  if (z > maxTileZoom || x >= 2 ** z || y >= 2 ** z) return null;
  // An empty tile would say that there is no shelter.
  if (release.manifest.missing !== undefined)
    return problem(503, "This copy is not complete yet: the tile may be still to come.");
  return { status: 204, headers: cacheableHeaders("stable"), body: [] };
}

/**
 * TileJSON whose relative addresses became absolute; null for any other file, and where the client named no host. Who asks
 * for a range, as a mirror may, gets the file itself, whose hash is in the manifest.
 */
export function answerTileJson(release: Release, file: ReleaseFile, headers: RequestHeaders): Answer | null {
  const origin = originOf(headers);
  if (file.path !== TILEJSON || origin === null || headers["range"] !== undefined) return null;
  const text = bytesOf(file.plain.slice(0, file.plain.length)).toString("utf8");
  const body = Buffer.from(text.replace(`"${TILE_TEMPLATE}"`, JSON.stringify(`${origin}/${TILE_TEMPLATE}`)));
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 24);
  return unlessFresh(headers, {
    status: 200,
    headers: {
      ...cacheableHeaders("stable"),
      Vary: "Accept-Encoding, Host, X-Forwarded-Proto",
      "Content-Type": file.mediaType,
      "Content-Length": String(body.length),
      "Last-Modified": release.lastModified,
      ETag: etagOf(hash, null),
    },
    body: [body],
  });
}

/** Only a plain host name or address with a port: what a client sends never reaches an answer unchecked. */
function originOf(headers: RequestHeaders): string | null {
  const host = headers["host"];
  if (typeof host !== "string" || !/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?$/.test(host)) return null;
  return `${headers["x-forwarded-proto"] === "https" ? "https" : "http"}://${host}`;
}

function bytesOf(part: Part): Buffer {
  if (part instanceof Uint8Array) return Buffer.from(part);
  const bytes = Buffer.alloc(lengthOf(part));
  readSync(part.file.descriptor, bytes, 0, bytes.length, part.start);
  return bytes;
}
