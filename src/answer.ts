/** What goes back to a client, as a value: both halves of the server make one, and only server.ts puts it on a wire. */

import fresh from "fresh";
import Negotiator from "negotiator";
import type { Coding } from "./bytes/compress.js";
import { problemDocument } from "./problem.js";
import type { Fault } from "./query.js";

/** Bytes in memory, or a range of an open file (`end` not included). */
export type Part = Uint8Array | { readonly file: OpenFile; readonly start: number; readonly end: number };

/** A file that is open for reading. */
export interface OpenFile {
  readonly descriptor: number;
  /**
   * Its whole content for one answer, checked when it is read; null where it must be read by position. Rejects with
   * UserError `damaged`.
   */
  take(): Promise<Taken | null>;
  /** The same at once, where it has been read already; null where it has not. */
  takeRead(): Taken | null;
}

/** Content that stays in memory at least until it is let go. */
export interface Taken {
  readonly bytes: Buffer;
  letGo(): void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Part[];
}

/** Bytes of a part of a body. */
export function lengthOf(part: Part): number {
  return part instanceof Uint8Array ? part.length : part.end - part.start;
}

/** Header names in lower case, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

const cacheControl = {
  stable: "public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800", // names that a new release fills anew
  manifest: "no-cache", // says what is new: always asked again
  mistake: "public, max-age=60", // 400, 404, 405
  failure: "no-store", // 5xx
} as const;

/** On every answer, errors too: any page may read everything, and what a cache must know. */
const commonHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "ETag, Link, Content-Length, Content-Range, Accept-Ranges, OGC-NumberMatched, OGC-NumberReturned",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept-Encoding",
} as const;

/** Headers of an answer that a cache may keep. */
export function cacheableHeaders(kind: "stable" | "manifest"): Record<string, string> {
  return { ...commonHeaders, "Cache-Control": cacheControl[kind] };
}

/** The package's types do not know the second parameter yet. */
interface PreferringNegotiator {
  encodings(available: string[], options?: { readonly preferred: readonly string[] }): string[];
}

const REMEMBERED = 256; // Accept-Encoding texts: clients send few different ones
const negotiated = new Map<string, Coding | null>();

/** The coding to answer in, of those there are: brotli before gzip where the client likes both the same; null = plain. RFC 9110, 12.5.3. */
export function negotiateCoding(headers: RequestHeaders, available: readonly Coding[]): Coding | null {
  const accept = headers["accept-encoding"];
  if (typeof accept !== "string" || accept === "" || available.length === 0) return null;
  const key = `${available.join()} ${accept}`;
  let coding = negotiated.get(key);
  if (coding === undefined) {
    const negotiator: PreferringNegotiator = new Negotiator({ headers: { "accept-encoding": accept } });
    const best = negotiator.encodings([...available, "identity"], { preferred: ["br", "gzip"] })[0];
    coding = available.find((one) => one === best) ?? null;
    if (negotiated.size < REMEMBERED) negotiated.set(key, coding);
  }
  return coding;
}

/** The ETag of one coding of a content: strong, because each coding has its own bytes. */
export function etagOf(hash: string, coding: Coding | null): string {
  const suffix = coding === null ? "" : coding === "gzip" ? "-gz" : "-br";
  return `"${hash}${suffix}"`;
}

const NOT_MODIFIED_HEADERS = [
  "Cache-Control",
  "ETag",
  "Last-Modified",
  "Vary",
  "Link",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
  "X-Content-Type-Options",
];

/** The answer, or 304 without a body when the client has it already (RFC 9110, 13.1). */
export function unlessFresh(request: RequestHeaders, answer: Answer): Answer {
  if (request["if-none-match"] === undefined && request["if-modified-since"] === undefined) return answer;
  const lowerCase = { etag: answer.headers["ETag"], "last-modified": answer.headers["Last-Modified"] };
  if (!fresh(request as Record<string, string>, lowerCase)) return answer;
  const kept = Object.entries(answer.headers).filter(([name]) => NOT_MODIFIED_HEADERS.includes(name));
  return { status: 304, headers: Object.fromEntries(kept), body: [] };
}

/** An error as RFC 9457 problem details. */
export function problem(
  status: number,
  detail: string,
  extra: { readonly errors?: readonly Fault[]; readonly headers?: Readonly<Record<string, string>> } = {},
): Answer {
  const body = Buffer.from(problemDocument(status, detail, extra.errors));
  return {
    status,
    headers: {
      ...commonHeaders,
      "Content-Type": "application/problem+json",
      "Content-Length": String(body.length),
      "Cache-Control": status >= 500 ? cacheControl.failure : cacheControl.mistake,
      ...extra.headers,
    },
    body: [body],
  };
}
