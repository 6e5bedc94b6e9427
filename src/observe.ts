/** What is told of every answer to whoever watches: numbers and words of ours, never text of a request. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress } from "./proxy.js";
import { formatQuery, parseQuery } from "./query.js";
import type { Release } from "./release.js";
import type { Routed, RouteName } from "./route.js";

export interface Observation {
  readonly method: string;
  readonly route: RouteName;
  readonly status: number;
  /** Of the body, as announced; 0 when it was not. */
  readonly bytes: number;
  /** From the request's last header to the last byte of the answer, or to the end of the connection. */
  readonly seconds: number;
  /** False when the client went away before the end. */
  readonly isComplete: boolean;
  readonly coding: string;
  /** What was asked for: a path of the release, or the query in canonical form; empty where that is not known. */
  readonly asked: () => string;
  /** Address of the connection, or what a proxy in front says. */
  readonly client: (trustProxy: boolean) => string;
}

export type Observer = (seen: Observation) => void;

/** A function that watches one request for all observers; with none it costs nothing. */
export function watchWith(observers: readonly Observer[]) {
  if (observers.length === 0) return () => {};
  return (release: Release, routed: Routed, request: IncomingMessage, response: ServerResponse): void => {
    const started = performance.now();
    response.once("close", () => {
      const seen: Observation = {
        method: request.method ?? "",
        route: routed.route,
        status: response.statusCode,
        bytes: Number(headerOf(response, routed, "Content-Length")) || 0,
        seconds: (performance.now() - started) / 1000,
        isComplete: response.writableFinished,
        coding: headerOf(response, routed, "Content-Encoding"),
        asked: () => describe(release, routed),
        client: (trustProxy) =>
          clientAddress(trustProxy ? request.headers : {}, request.socket.remoteAddress ?? undefined),
      };
      for (const observe of observers) observe(seen);
    });
  };
}

/** Headers given to `writeHead` are not kept by node:http: those of our own answers are at hand. */
function headerOf(response: ServerResponse, { answer }: Routed, name: string): string {
  return answer?.headers[name] ?? String(response.getHeader(name) ?? "");
}

function describe(release: Release, { route, file, search }: Routed): string {
  if (route !== "api") return file;
  const parsed = parseQuery(search);
  if (!("query" in parsed)) return "";
  const { region } = parsed.query;
  const isKnown = region === null || release.manifest.regions.some(({ name }) => name === region);
  return isKnown ? formatQuery(parsed.query) : "";
}
