/** Validators and cache rules: does a reader who asks again get what is new, and nothing when nothing is? */

import { MANIFEST } from "../manifest.js";
import { type Check, type Finding, finding, header, shown } from "./check.js";

const DAY = 86_400; // seconds

/** ETag and Last-Modified, asked back. */
export const validators: Check = async (copy) => {
  const { path } = copy.sample;
  const plain = { "Accept-Encoding": "identity" };
  const reply = await copy.ask(path, plain);
  const etag = header(reply, "etag");
  const date = header(reply, "last-modified");
  const again = "every look for news loads the whole file";
  const findings: Finding[] = [
    finding("ETag", path, { isRight: etag !== "", found: shown(etag), breaks: again, worst: "broken" }),
  ];
  if (etag !== "") {
    const same = await copy.ask(path, { ...plain, "If-None-Match": etag });
    findings.push(
      finding("If-None-Match, unchanged", path, {
        isRight: same.status === 304,
        found: `status ${same.status}`,
        breaks: again,
        worst: "broken",
      }),
    );
  } else if (date !== "") {
    const same = await copy.ask(path, { ...plain, "If-Modified-Since": date });
    findings.push(
      finding("If-Modified-Since, unchanged", path, {
        isRight: same.status === 304,
        found: `status ${same.status}`,
        breaks: again,
        worst: "broken",
      }),
    );
  }
  const other = await copy.ask(path, { ...plain, "If-None-Match": '"another version"' });
  const never = "who has an old version is told that it is the newest";
  findings.push(
    finding("If-None-Match, changed", path, {
      isRight: other.status === 200,
      found: `status ${other.status}`,
      breaks: never,
      worst: "danger",
    }),
  );
  const packed = await copy.ask(path, { "Accept-Encoding": "gzip" });
  if (etag !== "" && header(packed, "content-encoding") !== "") {
    const isRight = header(packed, "etag") !== etag || etag.startsWith("W/");
    const breaks =
      "packed and plain bytes have the same strong ETag: a download that goes on can mix them (RFC 9110, 8.8.3)";
    findings.push(
      finding("ETag of each coding", path, {
        isRight,
        found: shown(header(packed, "etag")),
        breaks,
        worst: "broken",
      }),
    );
  }
  return findings;
};

/** Stable names may be kept for minutes, the manifest must be asked for again. */
export const cacheRules: Check = async (copy) => {
  const reply = await copy.ask(copy.sample.path);
  const manifest = await copy.ask(MANIFEST);
  const rule = header(reply, "cache-control");
  const cloud = header(reply, "cf-cache-status");
  const uncached =
    "Cloudflare does not keep files of this kind unless a cache rule says so: every reader waits for the origin";
  return [
    judge("cache rule", copy.sample.path, rule, DAY),
    judge("cache rule", MANIFEST, header(manifest, "cache-control"), 300),
    ...(cloud === ""
      ? []
      : [
          finding("Cloudflare's cache", copy.sample.path, {
            isRight: !/DYNAMIC|BYPASS/i.test(cloud),
            found: shown(cloud),
            breaks: uncached,
            worst: "broken" as const,
          }),
        ]),
  ];
};

/** `most`: seconds for which an old answer may be taken for the newest. */
function judge(about: string, path: string, rule: string, most: number): Finding {
  const limits = [...rule.matchAll(/(?:^|[\s,])(?:s-)?max-?age=(\d+)/gi)].map((match) => Number(match[1]));
  const kept = /no-cache|no-store/i.test(rule)
    ? 0
    : Math.max(...limits, /immutable/i.test(rule) ? Number.POSITIVE_INFINITY : 0);
  if (kept > most) {
    const breaks = `browsers and caches show old data for ${kept === Number.POSITIVE_INFINITY ? "ever" : `${Math.round(kept / 3600)} hours`}: names are stable, their content is not`;
    return { about, path, verdict: "danger", found: shown(rule), breaks };
  }
  const isSaid = limits.length > 0 || /no-cache|no-store/i.test(rule);
  const breaks =
    "browsers guess how long they may keep it, from its age: days for a file that is a month old";
  return finding(about, path, { isRight: isSaid, found: shown(rule), breaks, worst: "broken" });
}
