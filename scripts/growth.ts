/** How cost grows with the number of places: a table, and a plot as SVG. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeMachine, isInstalled } from "./machine.js";
import { boxWorkload } from "./peers.js";
import { startPeers } from "./peerservers.js";
import { plot } from "./plot.js";
import { memoryOf } from "./processes.js";
import { type BuiltSize, buildSize } from "./sizes.js";
import { shown, table } from "./table.js";
import { race, startShelters, type Workload } from "./workloads.js";

const PLOT = "scripts/growth.svg";
const MEMORY = "720M"; // the whole GeoJSON export of a million places fits into the three quarters that cut answers get
const PACE = { rounds: 3, seconds: 3 };

/** The panels of the plot and the rows of the table, in order. */
const PANELS = {
  Seconds: ["pull", "build: exports in every format", "build, all of it", "ogr2ogr: 4 whole exports only"],
  "Memory at most, MiB": ["pulling", "building", "serving"],
  Milliseconds: ["server start", "bbox of 100, p99", "bbox of 1,000, p99"],
  "Answers a second": ["bbox of 100", "bbox of 1,000", "MapServer: bbox of 100", "MapServer: bbox of 1,000"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Measures = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Builds and serves each size; prints the table and writes the plot. Without brotli and tiles: a million places take some minutes. */
export async function measureGrowth(
  work: string,
  sizes: readonly number[],
  say: (text: string) => void,
): Promise<void> {
  const measured: Measures[] = [];
  for (const count of sizes) {
    const measures = await measure(work, count);
    process.stderr.write(`${shown(count)} places: ${JSON.stringify(measures)}\n`); // the largest takes long, and may fail
    measured.push(measures);
    rmSync(join(work, String(count)), { recursive: true, force: true }); // 12 GB for a million
  }
  const column = (panel: string, name: string): number[] =>
    measured.map((measures) => measures[panel]?.[name] ?? Number.NaN);
  const rows = Object.entries(PANELS).flatMap(([panel, names]) =>
    names.map((name) => [`${panel}: ${name}`, ...column(panel, name).map(shown)]),
  );
  say(table(["", ...sizes.map((count) => `${shown(count)} places`)], rows));
  const panels = Object.entries(PANELS).map(([title, names]) => ({
    title,
    lines: Object.fromEntries(names.map((name) => [name, column(title, name)])),
  }));
  writeFileSync(PLOT, plot(`Cost by number of places. ${describeMachine()}`, "places", sizes, panels));
  say(`\n${PLOT} is written.`);
}

async function measure(work: string, count: number): Promise<Measures> {
  const built = await buildSize(work, count, ["brotli", "tiles"]);
  const stage = (name: string) => built.stages.find((one) => one.stage === name) ?? { seconds: 0, peak: 0 };
  const building = built.stages.filter((one) => one.stage !== "pull");
  const ogr2ogr = convert(built, work);
  const server = await startShelters(built.site, "--memory", MEMORY);
  const peers = await startPeers(built);
  try {
    const box = async (wanted: number) => await boxWorkload(wanted, count, false, server.address);
    const servers = { ours: server, ...peers.addresses };
    const [small, large] = await Promise.all([box(100), box(1000)]);
    const results = await race(servers, [small, large], PACE);
    const seen = (wanted: Workload, name: string) =>
      results.get(wanted.name)?.get(name) ?? { perSecond: Number.NaN, p99: Number.NaN };
    return {
      Seconds: {
        pull: stage("pull").seconds,
        "build: exports in every format": stage("exports").seconds,
        "build, all of it": building.reduce((sum, one) => sum + one.seconds, 0),
        "ogr2ogr: 4 whole exports only": ogr2ogr,
      },
      "Memory at most, MiB": {
        pulling: stage("pull").peak,
        building: Math.max(...building.map(({ peak }) => peak)),
        serving: memoryOf(server.process.pid ?? 0, "VmHWM"),
      },
      Milliseconds: {
        "server start": server.startMs,
        "bbox of 100, p99": seen(small, "ours").p99,
        "bbox of 1,000, p99": seen(large, "ours").p99,
      },
      "Answers a second": {
        "bbox of 100": seen(small, "ours").perSecond,
        "bbox of 1,000": seen(large, "ours").perSecond,
        "MapServer: bbox of 100": seen(small, "MapServer").perSecond,
        "MapServer: bbox of 1,000": seen(large, "MapServer").perSecond,
      },
    };
  } finally {
    await peers.stop();
    await server.stop();
  }
}

/** Seconds that GDAL takes for the four whole exports it can write, out of our GeoPackage; NaN where it is not installed. */
function convert({ site }: BuiltSize, work: string): number {
  if (!isInstalled("ogr2ogr")) return Number.NaN;
  const folder = join(work, "ogr2ogr");
  mkdirSync(folder);
  const started = performance.now();
  for (const [driver, extension, ...options] of [
    ["GeoJSON", "geojson"],
    ["CSV", "csv", "-lco", "GEOMETRY=AS_XY"],
    ["GPX", "gpx", "-dsco", "GPX_USE_EXTENSIONS=YES"],
    ["KML", "kml"],
  ] as const) {
    const files = [join(folder, `all.${extension}`), join(site, "places.gpkg"), "places"];
    const integers = ["-mapFieldType", "Integer64=Integer"]; // which KML has
    execFileSync("ogr2ogr", ["-f", driver, ...options, ...integers, ...files], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  rmSync(folder, { recursive: true });
  return (performance.now() - started) / 1000;
}
