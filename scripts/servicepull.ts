/**
 * `node dist/scripts/scripts/servicepull.js memory [PLACES]`: largest resident memory of a pull from a service like the known one.
 * `node dist/scripts/scripts/servicepull.js kill [KILLS]`: pulls that are killed at random moments; what is left must be whole.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../src/store/store.js";
import { startUpstream, type Upstream } from "../test/setup/upstream.js";

const PAGE = 20_000; // places of one answer: what the contract allows

// Runs in the pulling process itself: the system counts its largest resident size.
const REPORT = `data:text/javascript,process.on("exit",()=>process.stderr.write("\\nRSS "+process.resourceUsage().maxRSS+"\\n"))`;

const folder = mkdtempSync(join(tmpdir(), "servicepull-"));
const database = join(folder, "places.sqlite");
const [task = "", text = ""] = process.argv.slice(2);
try {
  if (task === "memory") await measureMemory(Number(text || 100_000));
  else if (task === "kill") await killOften(Number(text || 50));
  else process.stderr.write("usage: servicepull.js memory [PLACES] | kill [KILLS]\n");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function startPull(upstream: Upstream) {
  const program = ["dist/app/cli.js", "pull", "--from", upstream.address, "--database", database, "--force"];
  return spawn(process.execPath, ["--import", REPORT, ...program], { stdio: ["ignore", "ignore", "pipe"] });
}

async function measureMemory(count: number): Promise<void> {
  const upstream = await startUpstream({ count, cap: PAGE, knowsPages: true });
  const started = performance.now();
  const child = startPull(upstream);
  let said = "";
  child.stderr.on("data", (more) => {
    said += more;
  });
  const [code] = await once(child, "close");
  const kilobytes = Number(/RSS (\d+)/.exec(said)?.[1]);
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(
    `${count} places, ${upstream.requests.length} requests, exit code ${code}: ${Math.round(kilobytes / 1024)} MiB resident at most, ${seconds.toFixed(1)} s (most of them the service's)\n`,
  );
  await upstream.close();
}

async function killOften(kills: number): Promise<void> {
  const upstream = await startUpstream({ count: 1599, delay: 10 });
  await once(startPull(upstream), "close");
  const first = contentHash();
  upstream.places = upstream.places.map((place) => ({ ...place, name: `${place.name} bis` }));
  let [killed, ended] = [0, 0];
  while (killed < kills) {
    const child = startPull(upstream);
    setTimeout(() => child.kill("SIGKILL"), 200 + Math.random() * 2500);
    const [, signal] = await once(child, "close");
    if (signal === "SIGKILL") killed++;
    else ended++;
    const hash = contentHash();
    if (ended === 0 && hash !== first) ended++; // killed behind its commit
    if (ended === 0 ? hash !== first : hash === first)
      throw new Error(`after ${killed} kills the places are neither the old nor the new ones`);
  }
  process.stdout.write(`${killed} kills, ${ended} pulls that ended: the places were whole every time\n`);
  await upstream.close();
}

/** Of the places as they are read, one by one, not of what the database says of itself. */
function contentHash(): string {
  const store = openStore(database);
  try {
    const count = [...store.places()].length;
    if (count !== 1599) throw new Error(`there are ${count} places`);
    return store.contentHash();
  } finally {
    store.close();
  }
}
