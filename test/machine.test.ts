import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, startServing } from "./setup/cli.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, pullRecords, rebuild, writeSource } from "./setup/release.js";

let release: BuiltRelease;

beforeAll(async () => {
  release = await buildRelease(madePlaces(700).map((place) => ({ ...place, region: "" })));
});

describe("a full disk", () => {
  const disk = temporaryFolder();
  const isRoot = process.getuid?.() === 0;
  const canMount =
    process.platform === "linux" &&
    isRoot &&
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk]).status === 0;
  afterAll(() => {
    if (canMount) execFileSync("umount", [disk]);
  });

  it("can be made where tests run for everybody", () => {
    // Elsewhere the tests below are left out, because only root may mount a small disk.
    if (process.env["CI"] !== undefined && isRoot) expect(canMount).toBe(true);
  });

  it("stops a build with exit code 7; the old release stays, nothing is left over", async (context) => {
    context.skip(!canMount, "only root can mount a small disk");
    const small = join(disk, "small.sqlite");
    const site = join(disk, "site");
    await pullRecords(
      small,
      madePlaces(5).map((place) => ({ ...place, region: "" })),
    );
    await rebuild(small, site);
    const before = digestsBelow(site);
    for (let time = 0; time < 3; time++) {
      const { code, stderr } = await runCli(["build", "--database", release.database, "--site", site]);
      expect(code, stderr).toBe(7);
      expect(stderr).toMatch(/^shelters: the disk is full/);
      expect(stderr).not.toContain("    at ");
      expect(digestsBelow(site)).toEqual(before);
      expect(readdirSync(disk).sort()).toEqual([".site.lock", "site", "small.sqlite"]);
    }
    expect((await runCli(["verify", "--site", site])).code).toBe(0);
  });

  it("stops a pull with exit code 7; the old places stay", async (context) => {
    context.skip(!canMount, "only root can mount a small disk");
    const database = join(disk, "places.sqlite");
    await pullRecords(database, madePlaces(9));
    const from = writeSource(temporaryFolder(), madePlaces(40_000));
    const { code, stderr } = await runCli(["pull", "--force", "--from", from, "--database", database]);
    expect(code, stderr).toBe(7);
    expect(stderr).toMatch(/disk is full/);
    const { code: built, stdout } = await runCli([
      "--json",
      "build",
      "--database",
      database,
      "--site",
      join(temporaryFolder(), "site"),
    ]);
    expect(built).toBe(0);
    expect((JSON.parse(stdout) as { places: number }).places).toBe(9);
  });
});

describe("few file descriptors", () => {
  // Reading the program itself takes up to 96 at a time: the loader opens the modules of a level together. A release has thousands of files.
  const limited = { through: ["prlimit", "--nofile=128"] };
  const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

  it("are enough for a build", async (context) => {
    context.skip(!hasPrlimit, "there is no prlimit here");
    const site = join(temporaryFolder(), "site");
    const { code, stderr } = await runCli(["build", "--database", release.database, "--site", site], limited);
    expect(code, stderr).toBe(0);
    expect(digestsBelow(site)).toEqual(digestsBelow(release.site));
  });

  it("are enough to serve from memory; from disk it is said what is missing", async (context) => {
    context.skip(!hasPrlimit, "there is no prlimit here");
    const { address, process: child, ended } = await startServing(["serve", "--site", release.site], limited);
    expect((await ask(`${address}/exports/all/all.kml`)).status).toBe(200);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    const { code, stderr } = await runCli(
      ["serve", "--site", release.site, "--port", "0", "--memory", "0"],
      limited,
    );
    expect(code, stderr).toBe(7);
    expect(stderr).toMatch(/^shelters: too many open files/);
  });
});

it("without a network, pull, build and verify work", async (context) => {
  const apart = ["unshare", "-n"];
  context.skip(spawnSync("unshare", ["-n", "true"]).status !== 0, "no right to leave the network");
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  copyFileSync(release.database, join(folder, "data", "p.sqlite"));
  writeFileSync(join(folder, "none"), "");
  const site = join(folder, "site");
  for (const args of [
    ["pull", "--database", join(folder, "new.sqlite")],
    ["build", "--database", join(folder, "data", "p.sqlite"), "--site", site],
    ["verify", "--site", site],
  ]) {
    const { code, stderr } = await runCli(args, { through: apart });
    expect(code, stderr).toBe(0);
  }
});
