/** Validators and cache rules: does a reader who asks again get what is new, and nothing when nothing is? */

import { MANIFEST } from "../../release/manifest.js";
import type { Reply } from "./ask.js";
import { type Check, type Finding, finding, header, shown } from "./check.js";

const MINUTE = 60; // seconds
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const AGAIN = "every look for news loads the whole file";
const TO_THE_SECOND = "two releases within a second look the same, and a download that goes on may mix them";

/** ETag, or else Last-Modified, asked back: the same one, and another. */
export const validators: Check = async (copy) => {
  const { path } = copy.sample;
  const plain = { "Accept-Encoding": "identity" };
  const reply = await copy.ask(path, plain);
  const etag = header(reply, "etag");
  const date = header(reply, "last-modified");
  const [condition, value] = etag !== "" ? ["If-None-Match", etag] : ["If-Modified-Since", date];
  const same = value === "" ? [] : [await copy.ask(path, { ...plain, [condition]: value })];
  const other = await copy.ask(path, { ...plain, "If-None-Match": '"another version"' });
  const packed = await copy.ask(path, { "Accept-Encoding": "gzip" });
  return [
    finding("ETag", path, {
      isRight: etag !== "",
      found: shown(etag),
      breaks: date === "" ? AGAIN : TO_THE_SECOND,
      worst: "broken",
    }),
    ...same.map(({ status }) =>
      finding(`${condition}, unchanged`, path, {
        isRight: status === 304,
        found: `status ${status}`,
        breaks: AGAIN,
        worst: "broken",
      }),
    ),
    finding("If-None-Match, changed", path, {
      isRight: other.status === 200,
      found: `status ${other.status}`,
      breaks: "who has an old version is told that it is the newest",
      worst: "danger",
    }),
    ...distinct(path, etag, packed),
  ];
};

/** Two codings are two sequences of bytes: one strong ETag cannot be of both. */
function distinct(path: string, etag: string, packed: Reply): Finding[] {
  if (etag === "" || header(packed, "content-encoding") === "") return [];
  const isRight = header(packed, "etag") !== etag || etag.startsWith("W/");
  const breaks =
    "packed and plain bytes have the same strong ETag: a download that goes on can mix them (RFC 9110, 8.8.3)";
  return [
    finding("ETag of each coding", path, {
      isRight,
      found: shown(header(packed, "etag")),
      breaks,
      worst: "broken",
    }),
  ];
}

/** Stable names may be kept for minutes, the manifest must be asked for again. */
export const cacheRules: Check = async (copy) => {
  const { path } = copy.sample;
  const reply = await copy.ask(path);
  const manifest = await copy.ask(MANIFEST);
  return [
    judge(path, header(reply, "cache-control"), DAY),
    judge(MANIFEST, header(manifest, "cache-control"), 5 * MINUTE),
    ...cloudflare(path, header(reply, "cf-cache-status")),
  ];
};

function cloudflare(path: string, status: string): Finding[] {
  if (status === "") return [];
  const isRight = !/DYNAMIC|BYPASS/i.test(status);
  const breaks =
    "Cloudflare does not keep files of this kind unless a cache rule says so: every reader waits for the origin";
  return [finding("Cloudflare's cache", path, { isRight, found: shown(status), breaks, worst: "broken" })];
}

/** `most`: seconds for which an old answer may be taken for the newest. */
function judge(path: string, rule: string, most: number): Finding {
  const limits = [...rule.matchAll(/(?:^|[\s,])(?:s-)?max-?age=(\d+)/gi)].map((match) => Number(match[1]));
  const isAsked = /no-cache|no-store/i.test(rule);
  const forEver = /immutable/i.test(rule) ? Number.POSITIVE_INFINITY : 0;
  const kept = isAsked ? 0 : Math.max(...limits, forEver);
  const time = kept === Number.POSITIVE_INFINITY ? "ever" : `${Math.round(kept / HOUR)} hours`;
  const isOld = kept > most;
  return finding("cache rule", path, {
    isRight: !isOld && (isAsked || limits.length > 0),
    found: shown(rule),
    breaks: isOld
      ? `browsers and caches show old data for ${time}: names are stable, their content is not`
      : "browsers guess how long they may keep it, from its age: days for a file that is a month old",
    worst: isOld ? "danger" : "broken",
  });
}
