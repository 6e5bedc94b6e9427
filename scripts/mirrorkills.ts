/**
 * A mirror that is killed at random moments, again and again, between two sources: after each kill the copy must be one of
 * the two releases, whole. By hand, because it takes minutes; the tests hold a shorter one.
 *
 *   npm run --silent compile && tsc -p scripts && node dist/scripts/scripts/mirrorkills.js [kills]
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../src/build/build.js";
import { mirror } from "../src/mirror/mirror.js";
import { pull } from "../src/pull/pull.js";
import { verifyRelease } from "../src/release/manifest.js";
import { settle } from "../src/release/swap.js";
import { writeSynthetic } from "./synthetic.js";

const [kills = 100] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "shelters-kills-"));
const at = (name: string): string => join(folder, name);
const silent = { onLine: () => {}, onProgress: () => {} };

async function release(name: string, seed: number): Promise<string> {
  await writeSynthetic(at(`${name}.csv`), { count: 60, seed });
  const database = at(`${name}.sqlite`);
  const about = { date: "2026-01-02T03:04:05Z" };
  await pull({ from: at(`${name}.csv`), database, force: true, about, onProgress: () => {} });
  await build({ database, site: at(name), map: { maxZoom: 2 }, onProgress: () => {} });
  return at(name);
}

function start(source: string): ChildProcess {
  const args = ["dist/app/cli.js", "--quiet", "mirror", source, "--site", at("copy")];
  return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
}

/** Milliseconds until it ended by itself, or null when it was killed. */
async function run(source: string, killAfter: number): Promise<number | null> {
  const started = performance.now();
  const child = start(source);
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfter);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`it ended with ${code}`);
  return code === null ? null : performance.now() - started;
}

const sources = [await release("one", 1), await release("two", 2)] as const;
await mirror({ source: sources[0], site: at("copy"), ...silent });
const whole = (await run(sources[1], 120_000)) ?? 0;
const found = new Map<string, number>();
let killed = 0;
for (let turn = 0; killed < kills && turn < kills * 3; turn++) {
  // Most of them late, where the exchange is.
  const moment = whole * (turn % 3 === 0 ? Math.random() : 0.5 + 0.6 * Math.random());
  if ((await run(sources[turn % 2 === 0 ? 0 : 1], moment)) === null) killed++;
  settle(at("copy"));
  const { manifest, faults } = await verifyRelease(at("copy"));
  if (faults.length > 0) throw new Error(`after kill ${killed}: ${faults.join(", ")}`);
  found.set(manifest.generation, (found.get(manifest.generation) ?? 0) + 1);
}
console.log(
  `${killed} kills; the copy was always whole: ${[...found.values()].join(" and ")} times of either release`,
);
rmSync(folder, { recursive: true });
