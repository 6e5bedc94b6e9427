/**
 * A mirror that is killed at random moments, again and again, over a line that is slow and breaks: after each kill the copy
 * must be one of two releases, whole, and what had come must not come again. By hand, because it takes minutes; the tests
 * hold a shorter one.
 *
 *   npm run --silent compile && tsc -p scripts && node dist/scripts/scripts/mirrorkills.js [kills]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../src/build/build.js";
import { mirror } from "../src/mirror/mirror.js";
import { pull } from "../src/pull/pull.js";
import { readManifest, verifyRelease } from "../src/release/manifest.js";
import { settle } from "../src/release/swap.js";
import { startServer } from "../src/serve/server.js";
import { startProxy } from "../test/setup/badline.js";
import { writeSynthetic } from "./synthetic.js";
import { size } from "./table.js";

const [kills = 100] = process.argv.slice(2).map(Number);
const LINE = { rate: 100_000, cutEvery: 50_000 }; // bytes a second of each connection, and until it breaks
const folder = mkdtempSync(join(tmpdir(), "shelters-kills-"));
const at = (name: string): string => join(folder, name);
const silent = { onLine: () => {}, onProgress: () => {} };

/** A release that is served over a bad line. */
async function source(name: string, seed: number) {
  await writeSynthetic(at(`${name}.csv`), { count: 60, seed });
  const database = at(`${name}.sqlite`);
  const about = { date: "2026-01-02T03:04:05Z" };
  await pull({ from: at(`${name}.csv`), database, force: true, about, onProgress: () => {} });
  await build({ database, site: at(name), map: { maxZoom: 2 }, onProgress: () => {} });
  const server = await startServer({ site: at(name), host: "127.0.0.1", port: 0, log: () => {} });
  const line = await startProxy(server.address, LINE);
  return { site: at(name), line, close: () => Promise.all([line.close(), server.close()]) };
}

/** Mirrors with the command line; milliseconds until it ended by itself, or null when it was killed. */
async function run(address: string, killAfter: number): Promise<number | null> {
  const started = performance.now();
  const args = ["dist/app/cli.js", "--quiet", "mirror", address, "--site", at("copy"), "--rebuild", "never"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfter);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`it ended with ${code}`);
  return code === null ? null : performance.now() - started;
}

/** Which of the two the copy is; throws when it is neither, or not whole. */
async function check(): Promise<string> {
  settle(at("copy"));
  const { manifest, faults } = await verifyRelease(at("copy"));
  if (faults.length > 0) throw new Error(`after ${killed} kills: ${faults.join(", ")}`);
  if (!generations.includes(manifest.generation)) throw new Error(`after ${killed} kills: a foreign release`);
  return manifest.generation;
}

const sources = [await source("one", 1), await source("two", 2)] as const;
const generations = sources.map(({ site }) => readManifest(site).manifest.generation);
const forgetting = (): void => rmSync(at(".copy.fetching"), { recursive: true, force: true });
let killed = 0;

await mirror({ source: sources[0].site, site: at("copy"), ...silent });
// Undisturbed, there and back: what it takes and costs.
const undisturbed: { readonly ms: number; readonly bytes: number }[] = [];
for (const { line } of [sources[1], sources[0]]) {
  line.reset();
  forgetting();
  const ms = (await run(line.address, 600_000)) ?? 0;
  undisturbed.push({ ms, bytes: line.bytes() });
}
const alone = undisturbed.reduce((total, { bytes }) => total + bytes, 0) / 2;
const whole = undisturbed.reduce((total, { ms }) => total + ms, 0) / 2;

const found = new Map<string, number>();
let [target, copies, bytes] = [1, 0, 0];
for (const { line } of sources) line.reset();
while (killed < kills) {
  const { line } = sources[target === 1 ? 1 : 0];
  const ended = (await run(line.address, 300 + whole * Math.random())) !== null;
  if (!ended) killed++;
  const generation = await check();
  found.set(generation, (found.get(generation) ?? 0) + 1);
  if (!ended) continue;
  if (generation !== generations[target])
    throw new Error("it ended, and the copy is not the one of the source");
  copies++;
  bytes = sources.reduce((total, one) => total + one.line.bytes(), 0);
  target = 1 - target;
  forgetting();
  if (killed % 10 === 0) process.stderr.write(`${killed} of ${kills} kills\n`);
}
const extra = bytes - copies * alone;
console.log(`A line of ${size(LINE.rate)}/s a connection that breaks every ${size(LINE.cutEvery)}.
${killed} kills; the copy was whole every time: ${[...found.values()].join(" and ")} times of either release.
${copies} copies were finished in between, each byte of them checked: ${size(bytes)} on the wire, ${size(copies * alone)} undisturbed: ${size(extra / killed)} more a kill.`);
for (const one of sources) await one.close();
rmSync(folder, { recursive: true });
