/** One GET: conditions, redirects followed by hand, and a bound on time and bytes. */

import { Agent, fetch, type Response } from "undici";
import { systemCode } from "../errors.js";
import type { NetworkLimits, Validators } from "./source.js";

/** An answer to keep; null body = 304, what was there is still right. */
export interface Answer {
  readonly body: Buffer | null;
  readonly validators: Validators;
  readonly headers: { get(name: string): string | null };
}

/** An answer that is not what it should be; asking again may bring a better one. */
export class BadAnswer extends Error {
  readonly retryAfter: number | null;
  constructor(message: string, retryAfter: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.retryAfter = retryAfter;
  }
}

/** An answer that would be the same if it were asked for again. */
export class FinalAnswer extends BadAnswer {}

/** One connection, to be kept for all requests of a pull. */
export function openAgent({ connect, stall }: NetworkLimits): Agent {
  return new Agent({
    connections: 1,
    pipelining: 1,
    connect: { timeout: connect },
    headersTimeout: stall,
    bodyTimeout: stall,
  });
}

/** What every request of a pull has in common. */
export interface Manner {
  readonly limits: NetworkLimits;
  readonly agent: Agent;
  readonly userAgent: string;
  readonly deadline: AbortSignal;
}

/** Asks once. Throws BadAnswer: whatever goes wrong in here is the upstream's or the network's. */
export async function request(url: string, validators: Validators | null, how: Manner): Promise<Answer> {
  try {
    return await ask(url, validators, how);
  } catch (error) {
    if (error instanceof BadAnswer || !(error instanceof Error)) throw error;
    throw new BadAnswer(reasonOf(error), null, { cause: error });
  }
}

async function ask(url: string, validators: Validators | null, how: Manner): Promise<Answer> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new DOMException("it took too long", "TimeoutError"));
  // AbortSignal.any over AbortSignal.timeout was seen not to fire on Node 20: a plain timer always does.
  const timer = setTimeout(stop, how.limits.request);
  how.deadline.addEventListener("abort", stop, { once: true });
  try {
    return await askWithin(url, validators, how, controller.signal);
  } finally {
    clearTimeout(timer);
    how.deadline.removeEventListener("abort", stop);
  }
}

async function askWithin(
  url: string,
  validators: Validators | null,
  how: Manner,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await follow(url, validators, how, signal);
  const { headers } = response;
  const own = { url, etag: headers.get("etag"), lastModified: headers.get("last-modified") };
  if (response.status === 304 && validators !== null) return { body: null, validators: own, headers };
  const body = await readBody(response, how.limits.bytes);
  if (response.status !== 200) throw refuseStatus(response, body);
  return { body, validators: own, headers };
}

/** Follows redirects by hand: a loop ends after a few, and https never becomes http. */
async function follow(
  start: string,
  validators: Validators | null,
  how: Manner,
  signal: AbortSignal,
): Promise<Response> {
  let url = start;
  for (let hops = 0; hops <= how.limits.redirects; hops++) {
    const response = await fetch(url, {
      dispatcher: how.agent,
      signal,
      redirect: "manual",
      headers: {
        "User-Agent": how.userAgent,
        Accept: "application/geo+json, application/json;q=0.9, */*;q=0.1",
        "Accept-Encoding": "gzip, br",
        // fetch would add "no-cache" to a conditional request, which asks caches and servers not to answer 304.
        "Cache-Control": "max-age=0",
        ...(validators?.etag != null && { "If-None-Match": validators.etag }),
        ...(validators?.lastModified != null && { "If-Modified-Since": validators.lastModified }),
      },
    });
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, url) ? new URL(location, url) : null;
    if (
      next === null ||
      !/^https?:$/.test(next.protocol) ||
      (url.startsWith("https:") && next.protocol === "http:")
    )
      throw new FinalAnswer(
        `it redirects to ${JSON.stringify(location.slice(0, 200))}, which is not followed`,
      );
    url = next.href;
  }
  throw new FinalAnswer(`it redirects more than ${how.limits.redirects} times, the last time to ${url}`);
}

/** The decoded body; what a few bytes unfold to is counted while they unfold. */
async function readBody(response: Response, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limit) throw new FinalAnswer(`its answer is longer than ${limit} bytes once decoded`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuseStatus(response: Response, body: Buffer): BadAnswer {
  const isPassing = response.status >= 500 || [408, 425, 429].includes(response.status);
  const Fault = isPassing ? BadAnswer : FinalAnswer;
  return new Fault(
    `it answered ${response.status} ${response.statusText} (${excerpt(body)})`,
    parseRetryAfter(response.headers.get("retry-after")),
  );
}

/** The beginning of a body, safe to print. */
export function excerpt(body: Buffer): string {
  if (body.length === 0) return "an empty body";
  const text = body
    .subarray(0, 200)
    .toString("latin1")
    .replace(/[^\x20-\x7E]+/g, " ");
  return JSON.stringify(text.trim().slice(0, 60));
}

/** Milliseconds of a Retry-After header, in either of its forms (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return "it took too long";
  const cause = error.cause instanceof Error ? error.cause : null;
  if (cause === null) return error.message;
  const code = systemCode(cause);
  return code === null || cause.message.includes(code) ? cause.message : `${cause.message} (${code})`;
}
