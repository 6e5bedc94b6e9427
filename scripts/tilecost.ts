/** What tiles cost, seconds and memory: our tile stage, and GDAL's MVT driver with the same places, in turns. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../src/store/store.js";
import { isInstalled } from "./machine.js";
import { memoryOf, runProgram } from "./processes.js";
import { writeSynthetic } from "./synthetic.js";
import { median, shown, size, table } from "./table.js";

const STAGE = join(import.meta.dirname, "tilestage.js");
const CLI = join("dist", "app", "cli.js");
const SAMPLE = 20; // ms between looks at the memory of a process

/** How deep so many places are tiled: a release of many would be mostly tiles of one place. */
function zoomFor(count: number): number {
  return count > 20_000 ? 10 : 12;
}

interface Run {
  readonly seconds: number;
  /** Resident memory at its highest, MiB. */
  readonly peak: number;
  readonly files: number;
  readonly bytes: number;
}

/** A table, a row per number of places and program; medians of so many rounds. */
export async function measureTiles(
  work: string,
  sizes: readonly number[],
  rounds: number,
  say: (text: string) => void,
): Promise<void> {
  const hasGdal = isInstalled("ogr2ogr");
  if (!hasGdal) say("ogr2ogr (GDAL) is not installed: left out.\n");
  const rows: string[][] = [];
  for (const count of sizes) {
    const maxZoom = zoomFor(count);
    const { database, source } = await prepare(work, count, hasGdal);
    const programs: Record<string, (out: string) => Promise<Run>> = {
      "ours: plain, gzip and brotli, PMTiles": (out) =>
        timed([process.execPath, STAGE, database, out, String(maxZoom)], join(out, "tiles"), /\.pbf$/),
      ...(hasGdal && { "GDAL: gzip": (out) => timed(gdal(source, out, maxZoom), out, /\.pbf$/) }),
    };
    const runs = new Map(Object.keys(programs).map((name) => [name, [] as Run[]]));
    for (let round = 0; round < rounds; round++)
      for (const [name, run] of Object.entries(programs)) {
        const out = join(work, "tiles-out");
        rmSync(out, { recursive: true, force: true });
        const result = await run(out);
        process.stderr.write(`${shown(count)} places, ${name}: ${shown(result.seconds)} s\n`); // GDAL takes minutes
        runs.get(name)?.push(result);
        rmSync(out, { recursive: true, force: true });
      }
    for (const [name, all] of runs) rows.push([`${shown(count)}, z0-${maxZoom}; ${name}`, ...cells(all)]);
  }
  say(table(["places, zooms; program", "seconds", "peak MiB", "tiles", "bytes of tiles"], rows));
}

function cells(runs: readonly Run[]): string[] {
  const middle = (value: (run: Run) => number): number => median(runs.map(value));
  return [
    shown(middle(({ seconds }) => seconds)),
    shown(middle(({ peak }) => peak)),
    shown(middle(({ files }) => files)),
    size(middle(({ bytes }) => bytes)),
  ];
}

/** The database that we read, and the GeoPackage that GDAL reads: neither has to parse text. */
async function prepare(work: string, count: number, hasGdal: boolean) {
  const folder = join(work, `tiles-${count}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [csv, database, lines, source] = [
    "places.csv",
    "places.sqlite",
    "places.geojsonl",
    "places.gpkg",
  ].map((name) => join(folder, name)) as [string, string, string, string];
  await writeSynthetic(csv, { count });
  await runProgram([
    process.execPath,
    CLI,
    "pull",
    "--from",
    csv,
    "--database",
    database,
    "--force",
    "--quiet",
  ]);
  if (hasGdal) {
    await writeFields(database, lines);
    await runProgram(["ogr2ogr", "-f", "GPKG", source, `GeoJSONSeq:${lines}`, "-nln", "places"]);
  }
  return { database, source };
}

/** The fields of our tiles, and no others. */
async function writeFields(database: string, path: string): Promise<void> {
  const store = openStore(database);
  const out = createWriteStream(path);
  for (const { id, name, lon, lat, category, altitude, summerCapacity, region } of store.places()) {
    const properties = {
      id,
      name,
      type_lieu: category,
      altitude_m: altitude,
      capacity_summer: summerCapacity,
      region,
    };
    const geometry = { type: "Point", coordinates: [lon, lat] };
    out.write(`${JSON.stringify({ type: "Feature", geometry, properties })}\n`);
  }
  store.close();
  out.end();
  await once(out, "finish");
}

function gdal(source: string, out: string, maxZoom: number): string[] {
  const options = ["MINZOOM=0", `MAXZOOM=${maxZoom}`, "COMPRESS=YES"].flatMap((option) => ["-dsco", option]);
  return ["ogr2ogr", "-f", "MVT", out, source, "places", ...options];
}

/** Runs a program to its end and watches its memory; counts what it wrote into `folder`. Throws when it fails. */
async function timed(command: readonly string[], folder: string, wanted: RegExp): Promise<Run> {
  const [program = "", ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid ?? 0, "VmHWM") || 0);
  }, SAMPLE);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    wanted.test(path),
  );
  const bytes = files.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
  return { seconds, peak, files: files.length, bytes };
}
