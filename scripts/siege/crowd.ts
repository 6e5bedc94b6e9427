/** 1,000 connections for a minute on whole exports, boxes and compressed forms, and how one visitor fares meanwhile. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isInstalled, pinned } from "../machine.js";
import { shown } from "../table.js";
import { type Outcome, probe, type Releases, startServer, watchMemory } from "./trial.js";

const CONNECTIONS = 1000;
const SECONDS = 60;
const MOST_MEMORY = 400; // MiB: the budget of 256 MB, the program, and what 1,000 connections take

// Path, and what the client accepts. Boxes of 10 to 3,000 places.
const requests = [
  "/exports/all/all.geojson gzip",
  "/exports/all/all.geojson identity",
  "/exports/all/all.gpx gzip",
  "/exports/aragon/2.kml gzip",
  "/exports/occitanie/all.csv identity",
  "/ gzip",
  "/manifest.json gzip",
  "/places.pmtiles identity",
  "/api.php?format=json&type_lieu=6 identity",
  ...[0.05, 0.1, 0.2, 0.4, 0.8].flatMap((half) => {
    const box = [0.6 - half, 42.7 - half, 0.6 + half, 42.7 + half].map((edge) => edge.toFixed(3));
    return ["geojson identity", "geojson gzip", "gpx gzip", "csv identity"].map((how) => {
      const [format, coding] = how.split(" ");
      return `/api.php?format=${format}&bbox=${box.join()} ${coding}`;
    });
  }),
];

const SCRIPT = `
local requests = {}
local next = 0
init = function()
  for line in io.lines(os.getenv("REQUESTS")) do
    local path, coding = line:match("^(%S+) (%S+)$")
    requests[#requests + 1] = wrk.format("GET", path, { ["Accept-Encoding"] = coding })
  end
end
request = function()
  next = next % #requests + 1
  return requests[next]
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nRESULT %d %d %d %d %d %d %d\\n', summary.requests, e.connect, e.read, e.write, e.status, e.timeout,
    latency:percentile(99)))
end
`;

export async function crowd({ one }: Releases): Promise<Outcome> {
  const asked = `${shown(CONNECTIONS)} connections, ${SECONDS} s, ${requests.length} different requests`;
  if (!isInstalled("wrk")) return { asked, seen: "wrk is not installed", faults: ["not tried"] };
  const server = await startServer(one);
  try {
    const before = await probe(server.address, 3);
    const atStart = server.memory();
    const highest = watchMemory(server);
    const under = load(server.address);
    const during = await probe(server.address, under);
    const { done, connect, read, write, status, timeout, p99 } = await under;
    const memory = highest();
    const after = await probe(server.address, 3);
    const errors = connect + read + write;
    return {
      asked,
      seen:
        `${shown(done)} answers, ${errors} socket errors, ${status} other than 2xx, ${timeout} over 30 s, p99 ${shown(p99 / 1000)} ms; ` +
        `${shown(atStart)} MiB at the start, ${shown(memory)} at most; a visitor waits ${shown(before.median)} ms before, ` +
        `${shown(during.median)} (at most ${shown(during.worst)}) during, ${shown(after.median)} after`,
      faults: [
        ...(errors + status + timeout > 0 ? ["requests failed"] : []),
        ...(before.failures + during.failures + after.failures > 0 ? ["the visitor got no answer"] : []),
        ...(memory > MOST_MEMORY ? ["too much memory"] : []),
        ...(after.median > before.median * 2 + 5 ? ["slow afterwards"] : []),
      ],
    };
  } finally {
    await server.stop();
  }
}

async function load(address: string) {
  const folder = mkdtempSync(join(tmpdir(), "shelters-crowd-"));
  try {
    const [script, list] = [join(folder, "crowd.lua"), join(folder, "requests")];
    writeFileSync(script, SCRIPT);
    writeFileSync(list, `${requests.join("\n")}\n`);
    const command = [
      "wrk",
      "-t1",
      `-c${CONNECTIONS}`,
      `-d${SECONDS}s`,
      "--timeout",
      "30s",
      "-s",
      script,
      address,
    ];
    const [program = "", ...args] = pinned(1, command);
    const { stdout } = await promisify(execFile)(program, args, { env: { ...process.env, REQUESTS: list } });
    const numbers = /RESULT ([\d ]+)/.exec(stdout)?.[1]?.split(" ").map(Number) ?? [];
    const [done = 0, connect = 1, read = 0, write = 0, status = 0, timeout = 0, p99 = 0] = numbers;
    return { done, connect, read, write, status, timeout, p99 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
