/** What a check of `doctor` gets and gives. Each check is one function and one line in index.ts. */

import { createHash } from "node:crypto";
import type { Manifest, ManifestFile } from "../../release/manifest.js";
import type { Reply } from "./ask.js";

/** `absent` = not offered, which is fine; `broken` = a nuisance; `danger` = somebody may get wrong or old data. */
export type Verdict = "right" | "absent" | "broken" | "danger";

export interface Finding {
  /** What was asked about. */
  readonly about: string;
  /** The path it was tried on. */
  readonly path: string;
  readonly verdict: Verdict;
  /** What came. */
  readonly found: string;
  /** What that breaks, and what would be right; empty where all is right. */
  readonly breaks: string;
}

export interface Copy {
  readonly manifest: Manifest;
  /** One file of each kind: not empty, and small. */
  readonly samples: readonly ManifestFile[];
  /** A small export in every coding: what ranges, validators and codings are tried on. */
  readonly sample: ManifestFile;
  /** The copy's address, with a slash at its end. */
  readonly base: string;
  ask(path: string, headers?: Readonly<Record<string, string>>, method?: "GET" | "HEAD"): Promise<Reply>;
}

export type Check = (copy: Copy) => Promise<readonly Finding[]>;

/** A finding about a path: `when` false is `worst`, with what that breaks. */
export function finding(
  about: string,
  path: string,
  { isRight, found, breaks, worst }: FindingFacts,
): Finding {
  return { about, path, verdict: isRight ? "right" : worst, found, breaks: isRight ? "" : breaks };
}

interface FindingFacts {
  readonly isRight: boolean;
  readonly found: string;
  readonly breaks: string;
  readonly worst: Exclude<Verdict, "right">;
}

/** SHA-256 of bytes, hex. */
export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A header as one text; empty where it is missing. */
export function header({ headers }: Reply, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : (value ?? "");
}

/** A header of somebody else for a terminal: no control characters, not long. */
export function shown(text: string): string {
  return text === "" ? "none" : text.replace(/[^\x20-\x7e]/g, "?").slice(0, 100);
}
