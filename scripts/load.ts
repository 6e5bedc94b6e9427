/** Load on a server: wrk where it is installed, else autocannon. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { isInstalled, pinned } from "./machine.js";

export interface LoadOptions {
  readonly address: string;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly connections?: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Of one answer, headers included. */
  readonly bytes: number;
  /** Answers that were no 2xx, and connections that broke. */
  readonly failures: number;
}

const CONNECTIONS = 16;

/** The tool that makes the load. */
export const tool: "wrk" | "autocannon" = isInstalled("wrk") ? "wrk" : "autocannon";

/** Keeps a server busy for some seconds. */
export function load(options: LoadOptions): Promise<LoadResult> {
  return tool === "wrk" ? loadWithWrk(options) : loadWithAutocannon(options);
}

const SCRIPT = `
local requests = {}
local next = 0
init = function()
  for path in io.lines(os.getenv("PATHS")) do requests[#requests + 1] = wrk.format("GET", path) end
end
request = function()
  next = next % #requests + 1
  return requests[next]
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nRESULT %d %d %d %d %d\\n', summary.requests, summary.duration, summary.bytes,
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;

async function loadWithWrk({
  address,
  paths,
  headers = {},
  seconds,
  connections = CONNECTIONS,
}: LoadOptions): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "shelters-load-"));
  try {
    writeFileSync(join(folder, "load.lua"), SCRIPT);
    writeFileSync(join(folder, "paths"), `${paths.join("\n")}\n`);
    const said = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const command = [
      ...["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"],
      ...["-s", join(folder, "load.lua"), ...said, address],
    ];
    const [program = "", ...args] = pinned(1, command);
    const { stdout } = await promisify(execFile)(program, args, {
      env: { ...process.env, PATHS: join(folder, "paths") },
    });
    const [, ...numbers] = /RESULT (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(stdout) ?? [];
    const [requests = 0, duration = 1, bytes = 0, p99 = 0, failures = 1] = numbers.map(Number);
    return { perSecond: requests / (duration / 1e6), p99: p99 / 1000, bytes: bytes / requests, failures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function loadWithAutocannon({
  address,
  paths,
  headers = {},
  seconds,
  connections = CONNECTIONS,
}: LoadOptions): Promise<LoadResult> {
  const result = await autocannon({
    url: address,
    connections,
    duration: seconds,
    headers,
    requests: paths.map((path) => ({ method: "GET" as const, path })),
  });
  return {
    perSecond: result.requests.total / result.duration,
    p99: result.latency.p99,
    bytes: result.throughput.total / result.requests.total,
    failures: result.non2xx + result.errors,
  };
}
