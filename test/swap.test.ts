import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { buildRelease, lean, pullRecords, rebuild } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

// Two data sets without regions: a small release, so that 20 builds take seconds.
const one = madePlaces(40, 1).map((place) => ({ ...place, region: "", name: `first ${place.id}` }));
const two = madePlaces(45, 2).map((place) => ({ ...place, region: "", name: `second ${place.id}` }));

async function untilServed(server: TestServer, generation: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (server.release().manifest.generation !== generation) {
    expect(Date.now(), "the new release is picked up").toBeLessThan(deadline);
    await wait(50);
  }
}

describe("a running server", () => {
  it("goes over to a new release by itself", async () => {
    const { database, site } = await buildRelease(one);
    const server = await serve(site);
    await pullRecords(database, two, { date: "2026-02-02T00:00:00Z" });
    const { generation } = await rebuild(database, site);
    await untilServed(server, generation);
    const reply = await ask(`${server.address}/api.php?format=json&bbox=-3,41,4,44`);
    expect(JSON.parse(reply.text)).toHaveLength(45);
    const written = statSync(join(site, "manifest.json")).mtimeMs;
    expect(reply.headers["last-modified"]).toBe(new Date(written).toUTCString());
    expect(server.lines.join()).toContain(generation);
  });

  it("answers every request whole and of one generation while 20 builds go by", async () => {
    const { database, site, folder, manifest } = await buildRelease(one, lean);
    const other = join(folder, "other.sqlite");
    await pullRecords(other, two);
    const server = await serve(site);
    const counts = new Map([[manifest.generation, 40]]);
    const seen = new Set<string>();
    let isOver = false;
    let asked = 0;

    /** Every answer names its generation or holds the names of one data set only, and all places of it. */
    const poll = async (path: string): Promise<void> => {
      while (!isOver) {
        const reply = await ask(server.address + path, { "accept-encoding": "identity" });
        asked++;
        expect(reply.status, path).toBe(200);
        expect(reply.body).toHaveLength(Number(reply.headers["content-length"]));
        const isFirst = reply.text.includes("first ");
        expect(isFirst, path).not.toBe(reply.text.includes("second "));
        expect(new Set(reply.text.match(/(first|second) \d+/g)).size, path).toBe(isFirst ? 40 : 45);
        seen.add(isFirst ? "first" : "second");
        await wait(5);
      }
    };
    const polling = Promise.all(
      [
        "/exports/all/all.geojson",
        "/exports/all/all.csv",
        "/exports/all/all.gpx",
        "/api.php?format=json",
        "/api.php?format=kml&bbox=-3,41,4,44",
        "/api.php?format=csv&limit=5000&offset=0&bbox=-180,-90,180,90",
      ].map(poll),
    );
    polling.catch(() => {}); // it is awaited below, after the builds
    for (let build = 0; build < 20; build++) {
      const { generation, places } = await rebuild(build % 2 === 0 ? other : database, site, lean);
      counts.set(generation, places);
    }
    await untilServed(server, manifest.generation);
    isOver = true;
    await polling;
    expect(counts.size).toBe(2);
    expect([...seen].sort()).toEqual(["first", "second"]);
    expect(asked).toBeGreaterThan(100);
  });

  it("keeps the old release while the new one is half a copy, and takes it when it is whole", async () => {
    const { site, manifest } = await buildRelease(one);
    const { site: next, manifest: nextManifest } = await buildRelease(two);
    const server = await serve(site);
    // Copied over file by file, as a sync program would: the manifest is there, an export is cut short.
    cpSync(next, site, { recursive: true });
    truncateSync(join(site, "exports/all/all.gpx"), 100);
    await wait(2500);
    expect(server.release().manifest.generation).toBe(manifest.generation);
    const reply = await ask(`${server.address}/api.php?format=gpx`);
    expect(reply.text).toContain("first 1<");
    expect(reply.text.endsWith("</gpx>\n")).toBe(true);
    expect(server.lines).toHaveLength(1);
    expect(server.lines[0]).toContain("the old one goes on");
    cpSync(next, site, { recursive: true });
    await untilServed(server, nextManifest.generation);
    expect((await ask(`${server.address}/api.php?format=gpx`)).text).toContain("second 1<");
  });

  it("goes on when the release is removed under it", async () => {
    const { site } = await buildRelease(one);
    const server = await serve(site);
    rmSync(site, { recursive: true });
    await wait(1500);
    expect((await ask(`${server.address}/exports/all/all.csv`)).text).toContain("first 1");
    expect((await ask(`${server.address}/api.php?format=csv&limit=40`)).status).toBe(200);
  });
});

describe("a kill between the two renames", () => {
  const beside = (site: string, suffix: string): string =>
    join(dirname(site), `.${basename(site)}.${suffix}`);

  it("is finished with the new release by the next command, whichever it is", async () => {
    const { site, database, manifest } = await buildRelease(one);
    const { site: next, manifest: nextManifest } = await buildRelease(two);
    for (const command of ["verify", "build"]) {
      if (existsSync(beside(site, "previous"))) rmSync(beside(site, "previous"), { recursive: true });
      renameSync(site, beside(site, "previous"));
      cpSync(next, beside(site, "next"), { recursive: true });
      const args = command === "build" ? ["--database", database] : [];
      const { code, stderr, stdout } = await runCli(["--json", command, "--site", site, ...args]);
      expect(code, stderr).toBe(0);
      expect((JSON.parse(stdout) as { generation: string }).generation).toBe(
        command === "verify" ? nextManifest.generation : manifest.generation,
      );
    }
    expect(readdirSync(dirname(site)).sort()).toEqual([".site.lock", "site"]);
  });

  it("is undone where only the old release is left", async () => {
    const { site } = await buildRelease(one);
    const before = readFileSync(join(site, "manifest.json"), "utf8");
    renameSync(site, beside(site, "previous"));
    const server = await serve(site);
    expect((await ask(`${server.address}/manifest.json`)).text).toBe(before);
  });

  it("does not make a release of a folder that was not finished", async () => {
    const site = join(temporaryFolder(), "site");
    const { site: whole } = await buildRelease(one.slice(0, 3));
    cpSync(whole, beside(site, "making"), { recursive: true });
    expect((await runCli(["verify", "--site", site])).code).toBe(5);
  });
});
