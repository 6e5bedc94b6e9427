/** Codings and ranges: do few bytes go over a thin line, and does a broken download go on where it broke? */

import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Reply } from "../ask.js";
import { codingNames } from "../compress.js";
import { type Check, type Copy, type Finding, finding, header, sha256, shown } from "./check.js";

/** Each coding alone, and none. */
export const encodings: Check = async (copy) => {
  const { path } = copy.sample;
  const replies = await Promise.all(
    codingNames.map((coding) => copy.ask(path, { "Accept-Encoding": coding })),
  );
  const plain = await copy.ask(path, { "Accept-Encoding": "identity" });
  const isPlain = header(plain, "content-encoding") === "";
  const unasked = finding("plain when asked", path, {
    isRight: isPlain,
    found: `Content-Encoding: ${shown(header(plain, "content-encoding"))}`,
    breaks: "programs that cannot unpack get noise",
    worst: "danger",
  });
  const coded = codingNames.map((coding, index) => checkCoding(copy, coding, replies[index] ?? plain));
  return [unasked, ...coded, ...varies(path, replies)];
};

function checkCoding({ sample }: Copy, coding: "gzip" | "br", reply: Reply): Finding {
  const sent = header(reply, "content-encoding");
  const about = coding === "gzip" ? "gzip" : "brotli";
  const ratio = (sample.bytes / Math.max(1, sample.codings[coding]?.bytes ?? sample.bytes)).toFixed(1);
  if (sent === "") {
    // Whoever sends gzip spares most of it: brotli is welcome, not needed.
    if (coding === "br")
      return {
        about,
        path: sample.path,
        verdict: "absent",
        found: "not offered",
        breaks: "a fifth more bytes than with brotli",
      };
    return {
      about,
      path: sample.path,
      verdict: "broken",
      found: "not offered",
      breaks: `${ratio} times the bytes on a thin line`,
    };
  }
  const isRight = sent === coding && isSame(reply.body, coding, sample.sha256);
  const breaks = "what is unpacked differs from what was published";
  return finding(about, sample.path, {
    isRight,
    found: `${shown(sent)}, ${reply.body.length} of ${sample.bytes} bytes`,
    breaks,
    worst: "danger",
  });
}

function isSame(body: Buffer, coding: "gzip" | "br", expected: string): boolean {
  try {
    return sha256(coding === "gzip" ? gunzipSync(body) : brotliDecompressSync(body)) === expected;
  } catch {
    return false;
  }
}

function varies(path: string, replies: readonly Reply[]): Finding[] {
  const coded = replies.find((reply) => header(reply, "content-encoding") !== "");
  if (coded === undefined) return [];
  const vary = header(coded, "vary");
  const isRight = /accept-encoding|^\*$/i.test(vary);
  const breaks =
    "a cache may hand packed bytes to a program that cannot unpack them: send Vary: Accept-Encoding";
  return [finding("Vary", path, { isRight, found: shown(vary), breaks, worst: "broken" })];
}

/** The middle, the end, behind the end, and a part of another version. */
export const ranges: Check = async (copy) => {
  const { path, bytes } = copy.sample;
  const range = (text: string, more: Readonly<Record<string, string>> = {}) =>
    copy.ask(path, { Range: text, "Accept-Encoding": "identity", ...more });
  const whole = await copy.ask(path, { "Accept-Encoding": "identity" });
  const from = Math.floor(bytes / 2);
  const middle = await range(`bytes=${from}-${from + 9}`);
  const resume = "a broken download begins again: on a line that drops every few minutes it never ends";
  if (middle.status === 200)
    return [
      finding("ranges", path, {
        isRight: false,
        found: "status 200, the whole file",
        breaks: resume,
        worst: "broken",
      }),
    ];
  const end = await range("bytes=-10");
  const behind = await range(`bytes=${bytes + 10}-`);
  const other = await range(`bytes=${from}-${from + 9}`, { "If-Range": '"another version"' });
  const isMiddle = middle.status === 206 && middle.body.equals(whole.body.subarray(from, from + 10));
  const isEnd = end.status === 206 && end.body.equals(whole.body.subarray(-10));
  const mixes = "a download that goes on after a new release mixes both: half old, half new";
  return [
    finding("ranges", path, {
      isRight: isMiddle,
      found: `status ${middle.status}, ${middle.body.length} bytes`,
      breaks: "wrong bytes in downloads that go on",
      worst: middle.status === 206 ? "danger" : "broken",
    }),
    finding("range at the end", path, {
      isRight: isEnd,
      found: `status ${end.status}, ${end.body.length} bytes`,
      breaks: "archives that are read from their end do not open",
      worst: "broken",
    }),
    finding("range behind the end", path, {
      isRight: behind.status === 416,
      found: `status ${behind.status}`,
      breaks: "clients that have it all already begin again",
      worst: "broken",
    }),
    finding("If-Range", path, {
      isRight: other.status === 200,
      found: `status ${other.status} for another version`,
      breaks: mixes,
      worst: "danger",
    }),
  ];
};

/** HEAD says what GET would send. */
export const heads: Check = async (copy) => {
  const { path, bytes } = copy.sample;
  const reply = await copy.ask(path, { "Accept-Encoding": "identity" }, "HEAD");
  const isRight = reply.status === 200 && header(reply, "content-length") === String(bytes);
  const found = `status ${reply.status}, Content-Length: ${shown(header(reply, "content-length"))}`;
  return [
    finding("HEAD", path, {
      isRight,
      found,
      breaks: "download managers cannot say how much is coming",
      worst: "broken",
    }),
  ];
};
