import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { readManifest, verifyRelease } from "../src/manifest.js";
import { settle } from "../src/swap.js";
import { runCli, startCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { madePlaces, randomOf } from "./setup/madeplaces.js";
import { buildRelease, pullRecords, rebuild, writeSource } from "./setup/release.js";

const KILLS = 15;
const noRegion = (count: number, seed: number) =>
  madePlaces(count, seed).map((place) => ({ ...place, region: "" }));

/** How long a run takes here, so that kills fall all over it. */
async function durationOf(args: readonly string[]): Promise<number> {
  const started = performance.now();
  const { code, stderr } = await runCli(args);
  expect(code, stderr).toBe(0);
  return performance.now() - started;
}

/** Starts the program and kills it after a while; false when it was done before. */
async function killAfter(milliseconds: number, args: readonly string[]): Promise<boolean> {
  const run = startCli(args);
  await wait(milliseconds);
  run.process.kill("SIGKILL");
  return (await run.ended).code === null;
}

it("a build that is killed at any moment leaves the old release or the new one, whole", async () => {
  const { database, site, folder, manifest } = await buildRelease(noRegion(60, 1));
  const other = join(folder, "other.sqlite");
  await pullRecords(other, noRegion(70, 2));
  const args = ["build", "--database", other, "--site", site];
  const duration = await durationOf(args);
  const otherGeneration = readManifest(site).manifest.generation;
  const { generation } = await rebuild(database, site);
  expect(generation).toBe(manifest.generation);
  const random = randomOf(Date.now());
  let killed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const which = kill % 2 === 0 ? other : database;
    // More of them late, where the exchange is.
    const moment = duration * (kill % 3 === 0 ? random() : 0.7 + 0.35 * random());
    if (await killAfter(moment, ["build", "--database", which, "--site", site])) killed++;
    settle(site); // as every command does first
    const { manifest: left, faults } = await verifyRelease(site);
    expect(faults).toEqual([]);
    expect([generation, otherGeneration]).toContain(left.generation);
  }
  expect(killed, "kills that came before the end").toBeGreaterThan(0);
  expect((await runCli(["verify", "--site", site])).code).toBe(0);
  expect((await runCli(args)).code).toBe(0);
  expect(readdirSync(dirname(site)).sort()).toEqual([".site.lock", "site"]);
});

it("a pull that is killed at any moment leaves the old places or the new ones", async () => {
  const folder = temporaryFolder();
  const database = join(folder, "places.sqlite");
  const sources = [1500, 2000].map((count) => writeSource(folder, noRegion(count, count), `${count}.json`));
  const args = (which: number): string[] => [
    "pull",
    "--force",
    "--from",
    sources[which] ?? "",
    "--database",
    database,
  ];
  await durationOf(args(0));
  const duration = await durationOf(args(0));
  const random = randomOf(Date.now());
  let killed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const moment = duration * (kill % 3 === 0 ? random() : 0.5 + 0.6 * random());
    if (await killAfter(moment, args((kill + 1) % 2))) killed++;
    const opened = new Database(database);
    expect(opened.pragma("integrity_check", { simple: true })).toBe("ok");
    const count = opened.prepare("SELECT count(*) FROM place").pluck().get();
    const ranks = opened.prepare("SELECT max(rank) + 1 FROM place").pluck().get();
    opened.close();
    expect([1500, 2000]).toContain(count);
    expect(ranks).toBe(count);
  }
  expect(killed, "kills that came before the end").toBeGreaterThan(0);
  const { code, stdout } = await runCli(["--json", ...args(1)]);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { places: number }).places).toBe(2000);
  expect(readdirSync(folder).filter((name) => name.startsWith("places.sqlite"))).toEqual(["places.sqlite"]);
});
