/** This program beside others that people would use instead: ratios of requests per second, measured in turns. */

import { readManifest } from "../src/release/manifest.js";
import { boxesWith } from "./boxes.js";
import type { LoadResult } from "./load.js";
import { startPeers } from "./peerservers.js";
import { type BuiltSize, buildSize } from "./sizes.js";
import { shown, size, table } from "./table.js";
import { type Pace, race, startRival, startShelters, type Workload } from "./workloads.js";

const GZIP = { "Accept-Encoding": "gzip" };

/** One table for each size. */
export async function benchPeers(
  work: string,
  sizes: readonly number[],
  pace: Pace,
  say: (text: string) => void,
): Promise<void> {
  for (const count of sizes) {
    const built = await buildSize(work, count, withoutSlow(count));
    say(`### ${shown(count)} places, this program against others\n\n${await comparePeers(built, pace)}\n`);
  }
}

/** What nobody is asked for, and takes long. */
function withoutSlow(count: number): ("brotli" | "tiles")[] {
  if (count <= 10_000) return [];
  return count <= 100_000 ? ["brotli"] : ["brotli", "tiles"];
}

async function comparePeers(built: BuiltSize, pace: Pace): Promise<string> {
  const rows = await startRival("rows", built.database, `${built.database}.rows`);
  const started = [
    await startShelters(built.site, "--memory", "512M"),
    await startRival("sirv", built.site),
    await startRival("buffer"),
    rows,
  ];
  const [ours, sirv, buffer] = started as [(typeof started)[0], (typeof started)[0], (typeof started)[0]];
  let stopPeers = async (): Promise<void> => {};
  try {
    const peers = await startPeers(built);
    stopPeers = peers.stop;
    const servers = { ours, sirv, rows, "prebuilt body": buffer, ...peers.addresses };
    const results = await race(servers, await peerWorkloads(built, ours.address), pace);
    const left = peers.missing.map((name) => `Not installed here, left out: ${name}.`);
    return [ratioTable(results, Object.keys(servers)), ...left].join("\n\n");
  } finally {
    await stopPeers();
    await Promise.all(started.map((server) => server.stop()));
  }
}

/** Files of three sizes, plain and gzipped; boxes. Each server is asked in its own words. */
async function peerWorkloads({ count, site }: BuiltSize, address: string): Promise<Workload[]> {
  const { files } = readManifest(site).manifest;
  const nearest = (bytes: number): string =>
    files
      // tiles.json is written for each client: it names the address under which it was asked for.
      .filter(({ path }) => /(json|\.txt)$/.test(path) && path !== "tiles.json")
      .reduce((best, file) => (Math.abs(file.bytes - bytes) < Math.abs(best.bytes - bytes) ? file : best))
      .path;
  const whole = "exports/all/all.geojson";
  const chosen = [
    { name: "whole export", path: whole },
    { name: "file of about 60 kB", path: nearest(60_000) },
    { name: "file of about 1 kB", path: nearest(1000) },
  ];
  const everyone = (path: string) => ({
    ours: [`/${path}`],
    sirv: [`/${path}`],
    nginx: [`/${path}`],
    "nginx tuned": [`/${path}`],
  });
  const boxes = [100, 1000].filter((wanted) => wanted * 5 <= count);
  return [
    ...chosen.map(({ name, path }) => ({ name, paths: everyone(path) })),
    { name: "whole export, gzip", paths: everyone(whole), headers: GZIP },
    ...(await Promise.all(
      boxes.flatMap((wanted) => [false, true].map((zip) => boxWorkload(wanted, count, zip, address))),
    )),
  ];
}

/** Boxes with about so many places; `address` is of this program, which knows how long its answers are. */
export async function boxWorkload(
  wanted: number,
  count: number,
  zip: boolean,
  address: string,
): Promise<Workload> {
  const boxes = boxesWith(wanted, count);
  const ours = boxes.map((box) => `/api.php?bbox=${box}`);
  const lengths = await Promise.all(
    ours.map(async (path) => (await (await fetch(address + path)).arrayBuffer()).byteLength),
  );
  const mean = Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length);
  const name = `bbox, about ${shown(wanted)} places`;
  if (zip) return { name: `${name}, gzip`, paths: { ours, rows: ours }, headers: GZIP };
  const wfs = "/?SERVICE=WFS&VERSION=1.0.0&REQUEST=GetFeature&TYPENAME=places&OUTPUTFORMAT=geojson&BBOX=";
  return {
    name,
    paths: {
      ours,
      rows: ours,
      PHP: ours,
      MapServer: boxes.map((box) => wfs + box),
      "prebuilt body": [`/${mean}`],
    },
  };
}

function ratioTable(
  results: ReadonlyMap<string, ReadonlyMap<string, LoadResult>>,
  servers: readonly string[],
): string {
  const others = servers.filter((name) => name !== "ours");
  const head = ["request", "answer", "requests/s", "p99, ms", ...others.map((name) => `x ${name}`)];
  const rows = [...results].map(([name, byServer]) => {
    const ours = byServer.get("ours");
    const ratio = (other: string): string => {
      const result = byServer.get(other);
      if (result === undefined || ours === undefined) return "-";
      const quotient = ours.perSecond / result.perSecond;
      return result.failures > 0 ? "failed" : quotient.toFixed(quotient < 10 ? 2 : 0);
    };
    return [
      name,
      size(ours?.bytes ?? 0),
      shown(ours?.perSecond ?? 0),
      shown(ours?.p99 ?? 0),
      ...others.map(ratio),
    ];
  });
  return table(head, rows);
}
