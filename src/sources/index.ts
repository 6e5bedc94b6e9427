/** The registry of sources: which one reads what `--from` names. */

import { api, serviceAddress } from "./api.js";
import { file } from "./file.js";
import type { Source } from "./source.js";

const sources = { file, api } as const satisfies Readonly<Record<string, Source>>;

/** Whether `--from` is an address rather than a path. */
export function isAddress(from: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(from);
}

/** The source for a path, for `-` (standard input), or for an http(s) address. Throws UserError `usage`. */
export function sourceOf(from: string): Source {
  if (!isAddress(from)) return sources.file;
  serviceAddress(from);
  return sources.api;
}
