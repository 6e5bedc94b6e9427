/** What a proxy in front says of the client. Only used when the operator says that there is one: anybody can send these headers. */

import { isIP } from "node:net";
import type { RequestHeaders } from "./answer.js";

/** `https://host/prefix` as the client sees it, from X-Forwarded-Proto, -Host and -Prefix; empty where they do not say. */
export function forwardedBase(headers: RequestHeaders): string {
  const scheme = firstOf(headers["x-forwarded-proto"]) || "http";
  const host = firstOf(headers["x-forwarded-host"]) || String(headers["host"] ?? "");
  const prefix = firstOf(headers["x-forwarded-prefix"]).replace(/\/$/, "");
  const isSound =
    /^https?$/.test(scheme) &&
    /^([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?$/.test(host) &&
    /^(\/[A-Za-z0-9._~-]+)*$/.test(prefix);
  return isSound ? `${scheme}://${host}${prefix}` : "";
}

/** Address of the client: the last one of X-Forwarded-For, which the proxy itself added; else that of the connection. */
export function clientAddress(headers: RequestHeaders, connected: string | undefined): string {
  const last = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : (connected ?? "");
}

/** The value that the outermost proxy wrote. */
function firstOf(header: string | string[] | undefined): string {
  return (String(header ?? "").split(",")[0] ?? "").trim();
}
