/** Store -> release: the table of contents of a build. */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codingNames, compressFiles, type FileForm } from "./compress.js";
import {
  planExports,
  planSelections,
  regionSlugs,
  regionsOf,
  type SelectionPlan,
  writeExports,
} from "./exports.js";
import { formats } from "./formats/index.js";
import { type HostName, hostFiles } from "./hosts.js";
import {
  formatManifest,
  MANIFEST,
  type Manifest,
  type ManifestFile,
  type ManifestRegion,
} from "./manifest.js";
import { openApiDocument } from "./openapi.js";
import { PAGE_CSS, pageHtml, termsText } from "./page.js";
import { program } from "./program.js";
import { createRanks } from "./rankfile.js";
import { openStore, type Store } from "./store.js";
import { replaceRelease } from "./swap.js";
import { categoryNumbers } from "./taxonomy.js";

export interface BuildOptions {
  readonly database: string;
  readonly site: string;
  /** What the release is made ready for; `none` unless told. */
  readonly host?: HostName;
  /** Address of a server's api.php that the host hands requests on to. */
  readonly api?: string | undefined;
  /** A stage begins, or goes on: its name, and how far it is. */
  readonly onProgress: (stage: BuildStage, done: number, of: number) => void;
}

export type BuildStage = "exports" | "compression" | "swap";

export interface BuildReport {
  readonly site: string;
  readonly generation: string;
  readonly date: string;
  readonly places: number;
  /** Files, their compressed forms included. */
  readonly files: number;
  /** Bytes of all plain files, and of all brotli forms. */
  readonly bytes: number;
  readonly brotliBytes: number;
}

const DATABASE = "index.sqlite";

/** What identifies a release: its places, what is said of them, and the program that encodes them. */
export function generationOf(store: Pick<Store, "contentHash" | "provenance">): string {
  return createHash("sha256")
    .update(JSON.stringify([program.generator, store.contentHash(), store.provenance()]))
    .digest("hex")
    .slice(0, 16);
}

/**
 * Builds the release of a database and puts it in the place of the old one. The same database gives the same bytes.
 * Throws UserError: `damaged`, `busy`, `system`; the old release stays then.
 */
export async function build(options: BuildOptions): Promise<BuildReport> {
  const { database, site, onProgress } = options;
  const store = openStore(database);
  try {
    return await replaceRelease(site, async (folder) => {
      const report = await writeRelease(store, folder, options);
      onProgress("swap", 0, 1);
      return { site, ...report };
    });
  } finally {
    store.close();
  }
}

async function writeRelease(
  store: Store,
  folder: string,
  { onProgress, host = "none", api }: BuildOptions,
): Promise<Omit<BuildReport, "site">> {
  const groups = store.groups();
  const selections = planSelections(groups);
  const facts = {
    ...store.provenance(),
    generator: program.generator,
    generation: generationOf(store),
    ...factsOf(selections),
  };
  const ranks = createRanks(join(folder, DATABASE), facts.count, regionsOf(groups));
  const about = { ...facts, extraKeys: store.extraKeys() };
  const written = await writeExports(folder, planExports(selections), store.places(), about, ranks, (done) =>
    onProgress("exports", done, facts.count),
  );
  ranks.finish();

  const plain = [
    ...written.map(({ path, bytes, sha256, format, count }) => ({
      path,
      bytes,
      sha256,
      mediaType: formats[format].mediaType,
      places: count,
    })),
    { ...measure(folder, DATABASE), mediaType: "application/vnd.sqlite3" },
    writeText(folder, "openapi.json", "application/json", `${JSON.stringify(openApiDocument(), null, 1)}\n`),
    writeText(folder, "index.html", "text/html; charset=utf-8", pageHtml(facts)),
    writeText(folder, "style.css", "text/css; charset=utf-8", PAGE_CSS),
    writeText(folder, "terms.txt", "text/plain; charset=utf-8", termsText(facts)),
  ];
  const compressible = plain.map(({ path, bytes }) => ({ path: join(folder, path), bytes }));
  const forms = await compressFiles(compressible, (done) =>
    onProgress("compression", done, plain.length * codingNames.length),
  );
  const files: ManifestFile[] = plain.map((file, index) => ({ ...file, codings: forms[index] ?? {} }));
  const forHost = hostFiles(host, files, api ?? null).map(({ path, mediaType, text }) => ({
    ...writeText(folder, path, mediaType, text),
    codings: {},
    hostOnly: true as const,
  }));
  const manifest: Manifest = { ...facts, database: DATABASE, files: [...files, ...forHost] };
  writeFileSync(join(folder, MANIFEST), formatManifest(manifest));
  await compressFiles(
    [{ path: join(folder, MANIFEST), bytes: statSync(join(folder, MANIFEST)).size }],
    () => {},
  );
  return {
    generation: facts.generation,
    date: facts.date,
    places: facts.count,
    files: (plain.length + 1) * (1 + codingNames.length) + forHost.length,
    bytes: sum(files.map(({ bytes }) => bytes)),
    brotliBytes: sum(files.map((file) => file.codings.br?.bytes ?? 0)),
  };
}

/** Counts and boxes for the manifest, from the planned selections. */
function factsOf(selections: readonly SelectionPlan[]) {
  const slugs = regionSlugs(selections.map(({ region }) => region).filter((region) => region !== null));
  const counts = (region: string | null): Record<string, number> =>
    Object.fromEntries(
      categoryNumbers.map((number) => [
        number,
        selections.find((one) => one.region === region && one.category === number)?.count ?? 0,
      ]),
    );
  const regions: ManifestRegion[] = selections
    .filter(({ region, category }) => region !== null && category === null)
    .map(({ region, count }) => ({
      name: region ?? "",
      slug: slugs.get(region ?? "") ?? "",
      count,
      categories: counts(region),
    }));
  const whole = selections.find(({ region, category }) => region === null && category === null);
  return { count: whole?.count ?? 0, bbox: whole?.bbox ?? null, categories: counts(null), regions };
}

function writeText(folder: string, path: string, mediaType: string, text: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return { ...measure(folder, path), mediaType };
}

function measure(folder: string, path: string): { readonly path: string } & FileForm {
  const bytes = readFileSync(join(folder, path));
  return { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
