/** Store -> release: the table of contents of a build. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Coding, codingNames, compressFiles } from "../bytes/compress.js";
import { measure, writeText } from "../bytes/written.js";
import { type HostName, hostFiles } from "../hosts/hosts.js";
import type { TileOptions, TileTask, WrittenTiles } from "../map/tilefiles.js";
import { DEFAULT_MAX_ZOOM } from "../map/tiles.js";
import { formatManifest, formsOf, MANIFEST, type Manifest, type ManifestFile } from "../release/manifest.js";
import { reuseFrom } from "../release/reuse.js";
import { replaceRelease } from "../release/swap.js";
import { type ReaderThread, startReader } from "../store/reader.js";
import { openStore, type Store } from "../store/store.js";
import { writeChanges } from "./changes.js";
import { downloadFiles } from "./downloads.js";
import { describe, type Facts, generationAt } from "./facts.js";
import { GEOPACKAGE, GEOPACKAGE_TYPE } from "./geopackage.js";
import { openApiDocument } from "./openapi.js";
import { termsText } from "./page.js";
import { copyBasemap, writeDisk, writePage } from "./pagefiles.js";
import { DATABASE, type PlainFile, writePlaces } from "./placefiles.js";

export interface BuildOptions {
  readonly database: string;
  readonly site: string;
  /** Whether to write `.br` beside `.gz`; default true. It takes most of the time of a large build. */
  readonly brotli?: boolean;
  /** A release whose compressed forms are taken over where the content is the same; default: the one that is replaced. */
  readonly former?: string;
  /** Default: tiles to zoom 12, relative addresses, no basemap. */
  readonly map?: Partial<MapOptions>;
  /** What the release is made ready for; `none` unless told. */
  readonly host?: HostName;
  /** Address of a server's api.php that the host hands requests on to. */
  readonly api?: string | null;
  /** A stage begins, or goes on: its name, and how far it is. */
  readonly onProgress: (stage: BuildStage, done: number, of: number) => void;
}

export interface MapOptions extends TileOptions {
  /** A PMTiles file in the Protomaps layout, drawn below the places. */
  readonly basemap: string | null;
}

const mapDefaults: MapOptions = { maxZoom: DEFAULT_MAX_ZOOM, baseUrl: null, basemap: null };

export type BuildStage = "exports" | "tiles" | "compression" | "swap";

export interface BuildReport {
  readonly site: string;
  readonly generation: string;
  readonly date: string;
  readonly places: number;
  readonly tiles: number;
  /** Zooms at which a tile had to leave out places. */
  readonly thinnedZooms: readonly number[];
  /** Files, their compressed forms included. */
  readonly files: number;
  /** Bytes of all plain files, and of all brotli forms. */
  readonly bytes: number;
  readonly brotliBytes: number;
}

/** What the parts of a build share. */
interface Work {
  readonly store: Store;
  readonly database: string;
  readonly folder: string;
  readonly former: string;
  readonly facts: Facts;
  readonly map: MapOptions;
  readonly codings: readonly Coding[];
  readonly host: HostName;
  readonly api: string | null;
  readonly onProgress: BuildOptions["onProgress"];
}

/**
 * Builds the release of a database and puts it in the place of the old one. The same database gives the same bytes.
 * Throws UserError: `damaged`, `busy`, `system`; the old release stays then.
 */
export async function build(options: BuildOptions): Promise<BuildReport> {
  const { database, site, former = site, brotli = true, host = "none", api = null, onProgress } = options;
  const store = openStore(database);
  const map = { ...mapDefaults, ...options.map };
  const codings = codingNames.filter((coding) => coding !== "br" || brotli);
  try {
    return await replaceRelease(site, async (folder) => {
      const facts = describe(store);
      const task = {
        database,
        contentHash: store.contentHash(),
        options: { folder, about: facts, options: map },
      };
      const tiles = startReader<TileTask, WrittenTiles>("map/tilethread.js", task, (done) =>
        onProgress("tiles", done, done),
      );
      try {
        const report = await writeRelease(
          { store, database, folder, former, facts, map, codings, host, api, onProgress },
          tiles,
        );
        onProgress("swap", 0, 1);
        return { site, ...report };
      } finally {
        await tiles.stop();
      }
    });
  } finally {
    store.close();
  }
}

async function writeRelease(
  work: Work,
  tiles: ReaderThread<WrittenTiles>,
): Promise<Omit<BuildReport, "site">> {
  const { store, database, folder, facts, codings, onProgress } = work;
  const exported = await writePlaces(store, database, folder, facts, (done) =>
    onProgress("exports", done, facts.count),
  );
  const drawn = await tiles.done;
  const { basemap, files: basemapFiles } = await copyBasemap(folder, work.map.basemap);
  const look = {
    ...facts,
    extraKeys: store.extraKeys(),
    maxZoom: work.map.maxZoom,
    basemap,
  };
  const page = writePage(folder, look, exported.exports);
  const geopackage = measure(folder, GEOPACKAGE);
  const downloads = downloadFiles(facts, exported.exports, geopackage);
  const files: ManifestFile[] = [
    ...(await compress(work, [
      ...exported.plain,
      { ...geopackage, mediaType: GEOPACKAGE_TYPE, places: facts.count, wanted: ["gzip"] },
      ...downloads.map((file) => writeText(folder, file.path, file.mediaType, file.text)),
      ...writeChanges(folder, store, generationAt),
      writeText(
        folder,
        "openapi.json",
        "application/json",
        `${JSON.stringify(openApiDocument(), null, 1)}\n`,
      ),
      ...drawn.plain,
      ...page.plain,
      writeText(folder, "terms.txt", "text/plain; charset=utf-8", termsText(facts)),
    ])),
    ...exported.pieces,
    ...drawn.files,
    ...page.files,
    writeDisk(folder, page.facts),
    ...basemapFiles,
  ];
  const forHost = hostFiles(work.host, files, work.api).map(({ path, mediaType, text }) => ({
    ...writeText(folder, path, mediaType, text),
    codings: {},
    hostOnly: true as const,
  }));
  const manifest = await writeManifest(work, [...files, ...forHost]);
  return {
    generation: facts.generation,
    date: facts.date,
    places: facts.count,
    tiles: drawn.tiles,
    thinnedZooms: drawn.thinnedZooms,
    files: [...formsOf(manifest)].length + 1 + codings.length,
    bytes: sum(files.map(({ bytes }) => bytes)),
    brotliBytes: sum(files.map((file) => file.codings.br?.bytes ?? 0)),
  };
}

async function compress(
  { folder, former, codings, onProgress }: Work,
  plain: readonly PlainFile[],
): Promise<ManifestFile[]> {
  const forms = await compressFiles(
    plain.map((file) => ({ ...file, path: join(folder, file.path) })),
    (done, of) => onProgress("compression", done, of),
    { codings, reuse: reuseFrom(former) },
  );
  return plain.map(({ wanted: _, ...file }, index) => ({ ...file, codings: forms[index] ?? {} }));
}

async function writeManifest(
  { store, folder, facts, map, codings }: Work,
  files: readonly ManifestFile[],
): Promise<Manifest> {
  const manifest: Manifest = {
    ...facts,
    content: store.contentHash(),
    ...store.origin(),
    ...(map.maxZoom !== null && { maxTileZoom: map.maxZoom }),
    database: DATABASE,
    files,
  };
  writeFileSync(join(folder, MANIFEST), formatManifest(manifest));
  await compressFiles([{ ...measure(folder, MANIFEST), path: join(folder, MANIFEST) }], () => {}, {
    codings,
  });
  return manifest;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
