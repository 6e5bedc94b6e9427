/** Asks a published copy what it does with files, codings, ranges, validators, caches and questions, and says what that breaks. */

import { UserError } from "../errors.js";
import { MANIFEST, type Manifest, type ManifestFile, parseManifest } from "../release/manifest.js";
import { ask } from "./checks/ask.js";
import type { Copy, Finding } from "./checks/check.js";
import { checks } from "./checks/index.js";

export interface Diagnosis {
  readonly url: string;
  readonly manifest: Manifest;
  readonly findings: readonly Finding[];
  readonly requests: number;
}

/**
 * Examines the copy at an address. Throws UserError: `source` when nothing answers there, `damaged` when what answers is no
 * release.
 */
export async function diagnose(
  url: string,
  onProgress: (checks: number, of: number) => void,
): Promise<Diagnosis> {
  const base = url.replace(/(manifest\.json|index\.html)?([?#].*)?$/, "").replace(/\/*$/, "/");
  let requests = 0;
  const askCopy: Copy["ask"] = async (path, headers, method) => {
    requests++;
    return await ask(base + path, headers, method);
  };
  try {
    const manifest = await fetchManifest(base, askCopy);
    const samples = samplesOf(manifest);
    const sample = typicalOf(manifest) ?? samples[0];
    if (sample === undefined) throw new UserError("damaged", `The release at ${base} has no files.`);
    const findings: Finding[] = [];
    for (const [done, check] of checks.entries()) {
      onProgress(done, checks.length);
      findings.push(...(await check({ manifest, samples, sample, base, ask: askCopy })));
    }
    return { url: base, manifest, findings, requests };
  } catch (error) {
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    throw new UserError("source", `${base} does not answer: ${error.message}.`, [], { cause: error });
  }
}

async function fetchManifest(base: string, askCopy: Copy["ask"]): Promise<Manifest> {
  const { status, body } = await askCopy(MANIFEST, { "Accept-Encoding": "identity" });
  if (status === 200) return parseManifest(body, base + MANIFEST);
  const advice = "Name the address of the folder that holds it.";
  throw new UserError("damaged", `${base}${MANIFEST} is answered with status ${status}. ${advice}`);
}

const ENOUGH = 1_000; // bytes: below, hosts do not compress and there is no middle

/** The smallest file of each extension that is large enough to be tried, else the largest one. */
function samplesOf(manifest: Manifest): ManifestFile[] {
  const kinds = new Map<string, ManifestFile>();
  const isBetter = (one: ManifestFile, other: ManifestFile): boolean =>
    other.bytes < ENOUGH ? one.bytes > other.bytes : one.bytes >= ENOUGH && one.bytes < other.bytes;
  for (const file of manifest.files) {
    if (file.hostOnly) continue;
    const kind = /[^./]*$/.exec(file.path)?.[0] ?? "";
    const other = kinds.get(kind);
    if (other === undefined || isBetter(file, other)) kinds.set(kind, file);
  }
  return [...kinds.values()];
}

/** The smallest export in every coding that is large enough: what has no brotli form by itself says nothing of the host. */
function typicalOf(manifest: Manifest): ManifestFile | undefined {
  const codingsIn = (file: ManifestFile): number => Object.keys(file.codings).length;
  return manifest.files
    .filter(({ path, bytes }) => /^exports\//.test(path) && bytes >= ENOUGH)
    .sort((a, b) => codingsIn(b) - codingsIn(a) || a.bytes - b.bytes)[0];
}
