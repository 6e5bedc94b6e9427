/** `/api.php`: a query in, an answer out. A planned selection is a file; anything else is cut from the whole export. */

import { hash } from "node:crypto";
import {
  type Answer,
  cacheableHeaders,
  etagOf,
  lengthOf,
  negotiateCoding,
  type Part,
  problem,
  type RequestHeaders,
  unlessFresh,
} from "../answer.js";
import type { Coding } from "../bytes/compress.js";
import { formatNames, formats } from "../formats/index.js";
import { wrongParameters } from "../problem.js";
import { parseQuery, type Query, queryLimits } from "../query.js";
import { gzipCut } from "../release/gzip.js";
import { saveName } from "../release/paths.js";
import type { RankRange, Ranks } from "../release/ranks.js";
import type { Release } from "../release/release.js";
import type { ReleaseFile } from "../release/served.js";

export const API_PATH = "/api.php";

/**
 * The answer to one request; `search` is the query string without `?`, `base` stands in front of links: empty, or
 * `https://host`. Never throws for anything a client can send.
 */
export function answerApi(
  release: Release,
  method: string,
  search: string,
  headers: RequestHeaders,
  base = "",
): Answer {
  if (method !== "GET") {
    return problem(405, `${API_PATH} answers GET only.`, { headers: { Allow: "GET" } });
  }
  const parsed = parseQuery(search);
  if ("faults" in parsed) {
    return problem(400, wrongParameters(parsed.faults), { errors: parsed.faults });
  }
  const asked = { query: parsed.query, search, headers, base };
  return unlessFresh(headers, answerPlanned(release, asked) ?? answerCut(release, asked));
}

/** A request that can be answered. */
interface Asked {
  readonly query: Query;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly base: string;
}

/** The file of a selection that was planned at build; null when the request wants a box, a page, or more than one page holds. */
function answerPlanned(release: Release, { query, headers, base }: Asked): Answer | null {
  if (query.bbox !== null || query.offset !== 0) return null;
  const file = release.plannedExport(query.region, query.category, query.format);
  if (file === undefined) return null;
  const matched = countPlanned(release, query);
  if (matched > query.limit) return null;
  const coding = negotiateCoding(headers, file.codings);
  const body = (coding === null ? undefined : file.coded[coding]) ?? file.plain;
  return {
    status: 200,
    headers: documentHeaders(release, query, {
      length: body.length,
      coding: body.coding,
      matched,
      returned: matched,
      links: standingLinks(release, base),
      etag: body.etag,
    }),
    body: [body.slice(0, body.length)],
  };
}

function countPlanned({ manifest }: Release, { region, category }: Query): number {
  const counted = region === null ? manifest : manifest.regions.find(({ name }) => name === region);
  return (category === null ? counted?.count : counted?.categories[category]) ?? 0;
}

/** Prologue, byte ranges of the whole export, epilogue; gzipped from the pieces where the client takes it. */
function answerCut(release: Release, { query, search, headers, base }: Asked): Answer {
  const { ranks } = release;
  const whole = release.plannedExport(null, null, query.format);
  if (ranks === null || whole === undefined) return stillToCome(release);
  const { matched, returned, ranges } = ranks.select(query, query.offset, query.limit);
  const envelope = ranks.envelope(query.format, query.region, query.category);
  const pieces = release.pieces(query.format);
  // The first place of each range goes plain: where every range is one place long there is nothing to win.
  const isWorthIt = pieces !== undefined && returned > ranges.length;
  const coding = isWorthIt ? negotiateCoding(headers, ["gzip"]) : null;
  const body: Part[] =
    coding === null || pieces === undefined
      ? [envelope.prologue, ...cut(whole, ranks, query, ranges), envelope.epilogue]
      : gzipCut(envelope, ranges, pieces);
  const length = body.reduce((total, part) => total + lengthOf(part), 0);
  const etag = etagOf(hash("sha256", tagText(release, query), "base64url").slice(0, 24), coding);
  const links = [...pageLinks(query, search, matched, base), standingLinks(release, base)].join(", ");
  return {
    status: 200,
    headers: documentHeaders(release, query, { length, coding, matched, returned, links, etag }),
    body,
  };
}

/** Another one for every release and query: what a visitor wrote stands last, everything before it has no space. */
function tagText({ tag }: Release, { format, bbox, category, region, limit, offset }: Query): string {
  const box = bbox === null ? "" : `${bbox.west},${bbox.south},${bbox.east},${bbox.north}`;
  return `${tag} ${format} ${limit} ${offset} ${category} ${box} ${region ?? ""}`;
}

/** What a copy that is not complete yet cannot answer: better nothing than a part that looks like the whole. */
function stillToCome(release: Release): Answer {
  const ready = formatNames.filter((format) => release.plannedExport(null, null, format) !== undefined);
  const what =
    ready.length === 0
      ? "No whole export is there yet"
      : `All places are there as format=${ready.join(", ")}`;
  return problem(
    503,
    `This copy is not complete yet: ${release.manifest.missing ?? 0} files are still to come, and this answer needs one of them. ${what}; /manifest.json lists all that is there.`,
  );
}

/** A run of places is a run of bytes; each but the last takes the separator behind it along. */
function cut(whole: ReleaseFile, ranks: Ranks, { format }: Query, ranges: readonly RankRange[]): Part[] {
  const starts = ranks.offsets(format);
  const separator = formats[format].separator.length;
  return ranges.map(({ from, to }, index) => {
    const end = (starts[to] ?? 0) - (index === ranges.length - 1 ? separator : 0);
    return whole.plain.slice(starts[from] ?? 0, end);
  });
}

// Every name in its order: headers that begin as a copy of these have one shape, which the engine knows by then. Such that
// gather their names one by one get a new shape each time, which costs 2 µs and more.
const noHeaders = {
  ...cacheableHeaders("stable"),
  "Content-Type": "",
  "Content-Length": "",
  "Content-Disposition": "",
  "Last-Modified": "",
  "OGC-NumberMatched": "",
  "OGC-NumberReturned": "",
  Link: "",
  ETag: "",
};

interface Document {
  readonly length: number;
  readonly coding: Coding | null;
  readonly matched: number;
  readonly returned: number;
  readonly links: string;
  readonly etag: string;
}

function documentHeaders(
  release: Release,
  query: Query,
  { length, coding, matched, returned, links, etag }: Document,
): Record<string, string> {
  const slug =
    query.region === null
      ? "all"
      : (release.manifest.regions.find(({ name }) => name === query.region)?.slug ?? "none");
  const part = `${query.category ?? "all"}${query.bbox === null ? "" : "-bbox"}`;
  // Ours, never a visitor's text.
  const name = saveName(`exports/${slug}/${part}.${query.format}`);
  // A browser shows JSON; GPX, KML and CSV are for another program, which the saved file opens.
  const disposition = query.format === "geojson" || query.format === "json" ? "inline" : "attachment";
  return {
    ...noHeaders,
    "Content-Type": formats[query.format].mediaType,
    "Content-Length": String(length),
    "Content-Disposition": `${disposition}; filename="${name}"`,
    "Last-Modified": release.lastModified,
    "OGC-NumberMatched": String(matched),
    "OGC-NumberReturned": String(returned),
    Link: links,
    ETag: etag,
    ...(coding !== null && { "Content-Encoding": coding }),
  };
}

/** Links that every document of a release has. */
function standingLinks(release: Release, base: string): string {
  const license = release.licenseUrl ?? `${base}/terms.txt`;
  return `<${license}>; rel="license", <${base}/openapi.json>; rel="service-desc"; type="application/json"`;
}

/** The pages before and behind this one, with every other parameter as it was sent (RFC 8288). */
function pageLinks(query: Query, search: string, matched: number, base: string): string[] {
  const link = (offset: number, rel: string): string => {
    const sent = new URLSearchParams(search);
    sent.set("offset", String(offset));
    return `<${base}${API_PATH}?${sent.toString()}>; rel="${rel}"`;
  };
  const links: string[] = [];
  const next = query.offset + query.limit;
  if (next < matched && next <= queryLimits.offset) links.push(link(next, "next"));
  if (query.offset > 0) links.push(link(Math.max(0, Math.min(query.offset, matched) - query.limit), "prev"));
  return links;
}
