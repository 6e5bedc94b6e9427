/** The registry of sources: which one reads what `--from` names. */

import { UserError } from "../errors.js";
import { file } from "./file.js";
import type { Source } from "./source.js";

const sources = { file } as const satisfies Readonly<Record<string, Source>>;

/** The source for a path, or for `-`, standard input. */
export function sourceOf(from: string): Source {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(from)) {
    throw new UserError(
      "usage",
      `--from takes a path or "-" for standard input; got the address ${JSON.stringify(from)}. Download it first, then name the file.`,
    );
  }
  return sources.file;
}
