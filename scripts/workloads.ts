/** Requests per second and slowest percent for the questions that people ask, of this program and of two others, in turns. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { boxesWith } from "./boxes.js";
import { type LoadResult, load } from "./load.js";
import { memoryOf, type RunningProcess, startProgram } from "./processes.js";
import type { BuiltSize } from "./sizes.js";
import { median, shown, size, table } from "./table.js";

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
}

export interface Workload {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What to ask each server for; a server without an entry is not asked. */
  readonly paths: Readonly<Partial<Record<string, readonly string[]>>>;
}

const CLI = join(import.meta.dirname, "../../app/cli.js");
const GZIP = { "Accept-Encoding": "gzip" };

/** Starts this program on a release; gives its address and how long it took to the address. */
export async function startShelters(site: string, ...flags: readonly string[]) {
  const command = [process.execPath, CLI, "--json", "serve", "--site", site, "--port", "0", ...flags];
  const running = await startProgram(command);
  const { address } = JSON.parse(running.firstLine) as { address: string };
  return { ...running, address };
}

/** Starts one of the servers in `rivals`, which print their address. */
export async function startRival(name: string, ...args: readonly string[]) {
  const running = await startProgram([
    process.execPath,
    join(import.meta.dirname, `rivals/${name}.js`),
    ...args,
  ]);
  return { ...running, address: running.firstLine };
}

export type Server = RunningProcess & { readonly address: string };

/** Runs every workload on every server, in turns, and keeps the medians. */
export async function race(
  servers: Readonly<Record<string, Pick<Server, "address">>>,
  workloads: readonly Workload[],
  { rounds, seconds }: Pace,
): Promise<Map<string, Map<string, LoadResult>>> {
  const results = new Map<string, Map<string, LoadResult[]>>();
  for (const { name, paths, headers = {} } of workloads) {
    const byServer = new Map<string, LoadResult[]>();
    results.set(name, byServer);
    for (let round = 0; round < rounds; round++) {
      for (const [server, { address }] of Object.entries(servers)) {
        const asked = paths[server];
        if (asked === undefined) continue;
        const result = await load({ address, paths: asked, headers, seconds });
        byServer.set(server, [...(byServer.get(server) ?? []), result]);
      }
    }
  }
  return new Map([...results].map(([name, servers]) => [name, medians(servers)]));
}

function medians(servers: ReadonlyMap<string, readonly LoadResult[]>): Map<string, LoadResult> {
  return new Map(
    [...servers].map(([server, runs]) => [
      server,
      {
        perSecond: median(runs.map((run) => run.perSecond)),
        p99: median(runs.map((run) => run.p99)),
        bytes: median(runs.map((run) => run.bytes)),
        failures: runs.reduce((sum, run) => sum + run.failures, 0),
      },
    ]),
  );
}

/** One table: this program, plain sirv on the same files, rows and JSON.stringify on the same places. */
export async function benchServing({ count, database, site }: BuiltSize, pace: Pace): Promise<string> {
  mkdirSync(join(site, ".."), { recursive: true });
  const ours = await startShelters(site);
  const atStart = memoryOf(ours.process.pid ?? 0, "VmRSS");
  const sirv = await startRival("sirv", site);
  const rows = await startRival("rows", database, `${database}.rows`);
  try {
    const results = await race({ ours, sirv, rows }, workloadsFor(count), pace);
    const memory = memoryOf(ours.process.pid ?? 0, "VmHWM");
    const facts = `Server: ${shown(ours.startMs)} ms from start to listening, ${shown(atStart)} MiB then, ${shown(memory)} MiB at most under this load.`;
    return `### ${shown(count)} places\n\n${servingTable(results)}\n\n${facts}`;
  } finally {
    await Promise.all([ours, sirv, rows].map((server) => server.stop()));
  }
}

/** The whole export, a category, and boxes; plain, and with gzip. */
export function workloadsFor(count: number): Workload[] {
  const file = (path: string) => ({ ours: [path], sirv: [path] });
  const whole = file("/exports/all/all.geojson");
  const category = "/exports/all/6.geojson";
  const boxes = [10, 100, 1000, 10_000]
    .filter((wanted) => wanted < count)
    .map((wanted) => {
      const paths = boxesWith(wanted, count).map((box) => `/api.php?bbox=${box}`);
      return { wanted, paths: { ours: paths, rows: paths } };
    });
  return [
    { name: "whole export", paths: whole },
    { name: "whole export, gzip", paths: whole, headers: GZIP },
    { name: "category", paths: { ...file(category), rows: ["/api.php?type_lieu=6"] } },
    { name: "category, gzip", paths: file(category), headers: GZIP },
    ...boxes.map(({ wanted, paths }) => ({ name: `bbox, about ${shown(wanted)} places`, paths })),
    ...boxes.map(({ wanted, paths }) => ({
      name: `bbox, about ${shown(wanted)} places, gzip`,
      paths,
      headers: GZIP,
    })),
  ];
}

function servingTable(results: ReadonlyMap<string, ReadonlyMap<string, LoadResult>>): string {
  const head = ["request", "answer", "requests/s", "p99, ms", "MB/s", "x plain sirv", "x rows"];
  const rows = [...results].map(([name, servers]) => {
    const ours = servers.get("ours");
    const times = (rival: string): string => {
      const other = servers.get(rival);
      return ours === undefined || other === undefined ? "-" : shown(ours.perSecond / other.perSecond);
    };
    const failures = [...servers.values()].reduce((sum, one) => sum + one.failures, 0);
    return [
      failures === 0 ? name : `${name} (${failures} failures)`,
      size(ours?.bytes ?? 0),
      shown(ours?.perSecond ?? 0),
      shown(ours?.p99 ?? 0),
      shown(((ours?.perSecond ?? 0) * (ours?.bytes ?? 0)) / 1e6),
      times("sirv"),
      times("rows"),
    ];
  });
  return table(head, rows);
}
