/** A request to the part of the server that answers it. */

import { type Answer, problem, type RequestHeaders } from "./answer.js";
import { API_PATH, answerApi } from "./api.js";
import { answerFile } from "./files.js";
import { answerHealth, HEALTH_PATH } from "./health.js";
import type { Release } from "./release.js";

/** Kinds of requests, as metrics and log name them. */
export type RouteName = "api" | "file" | "health" | "other";

export interface Routed {
  readonly route: RouteName;
  /** Path of a file of the release, in our words; empty for anything else. */
  readonly file: string;
  /** Query string as it was sent. */
  readonly search: string;
  /** null = not of the release: another file, perhaps. */
  readonly answer: Answer | null;
}

export interface RoutedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** In front of links: `https://host`, or empty for relative ones. */
  readonly base: string;
}

// Absolute form, as a proxy is sent it; a server must accept it too (RFC 9112, 3.2.2).
const ABSOLUTE = /^https?:\/\/[^/?#]*\/?/i;

/** The answer to a request, and what kind of request it was. */
export function routeRequest(release: Release, { method, url: sent, headers, base }: RoutedRequest): Routed {
  const url = sent.replace(ABSOLUTE, "/");
  const question = url.indexOf("?");
  const search = question === -1 ? "" : url.slice(question + 1);
  const path = decodePath(question === -1 ? url : url.slice(0, question));
  if (path === null) {
    const answer = problem(400, "The path of the address is not valid percent-encoded UTF-8.");
    return { route: "other", file: "", search, answer };
  }
  if (path === API_PATH)
    return { route: "api", file: "", search, answer: answerApi(release, method, search, headers, base) };
  if (path === HEALTH_PATH)
    return { route: "health", file: "", search, answer: answerHealth(release, method, new Date()) };
  const answer = answerFile(release, method, path, headers);
  return answer === null
    ? { route: "other", file: "", search, answer }
    : { route: "file", file: path, search, answer };
}

function decodePath(path: string): string | null {
  // A request target has no fragment (RFC 9112, 3.2); sirv would cut it off and answer with a file of the manifest.
  if (!path.startsWith("/") || path.includes("#")) return null;
  if (!path.includes("%")) return path;
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
  }
}
