/** What an operator asks for: health, metrics, access log, a proxy in front, several processes. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadRelease, openRelease } from "../src/release/release.js";
import { runCli, startServing } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask, linksOf, openSocket } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, pullRecords, rebuild } from "./setup/release.js";
import { serve } from "./setup/serve.js";

let built: BuiltRelease;

beforeAll(async () => {
  built = await buildRelease(placesOfNoRegion(120));
});

/** Few files, so that a build takes no time. */
function placesOfNoRegion(count: number): unknown[] {
  return madePlaces(count).map((place) => ({ ...place, region: "" }));
}

/** Asks until the answer is as wanted. */
async function eventually<Value>(
  get: () => Promise<Value> | Value,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  for (let tries = 0; ; tries++) {
    const value = await get();
    if (isRight(value)) return value;
    if (tries > 300) throw new Error(`it stayed ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("/healthz", () => {
  it("says which generation is served and how old the data are, and is never cached", async () => {
    const { address } = await serve(built.site);
    const reply = await ask(`${address}/healthz`);
    expect(reply.status).toBe(200);
    expect(reply.headers["cache-control"]).toBe("no-store");
    const health = JSON.parse(reply.text);
    expect(health).toMatchObject({ status: "ok", generation: built.manifest.generation, places: 120 });
    expect(health.ageSeconds).toBeCloseTo((Date.now() - Date.parse(built.manifest.date)) / 1000, -2);
    expect((await ask(`${address}/healthz`, {}, "HEAD")).body.length).toBe(0);
    expect((await ask(`${address}/healthz`, {}, "POST")).status).toBe(405);
  });
});

describe("behind a proxy", () => {
  const forwarded = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "huts.example.org",
    "x-forwarded-prefix": "/pyrenees/",
  };
  const query = "/api.php?format=json&limit=10&offset=20&type_fichier=gpx";

  it("links are absolute as the client sees them, and keep every parameter", async () => {
    const { address } = await serve(built.site, { trustProxy: true });
    const links = linksOf(await ask(address + query, forwarded));
    const base = "https://huts.example.org/pyrenees/api.php?format=json&limit=10";
    expect(links.get("next")).toBe(`${base}&offset=30&type_fichier=gpx`);
    expect(links.get("prev")).toBe(`${base}&offset=10&type_fichier=gpx`);
    expect(links.get("service-desc")).toBe("https://huts.example.org/pyrenees/openapi.json");
  });

  it("what is no scheme or host is not repeated", async () => {
    const { address } = await serve(built.site, { trustProxy: true });
    for (const foul of [
      { "x-forwarded-host": 'a"><script>' },
      { "x-forwarded-proto": "javascript" },
      { "x-forwarded-prefix": "/..//evil.example>" },
    ]) {
      const links = linksOf(await ask(address + query, { ...forwarded, ...foul }));
      expect(links.get("next")).toMatch(/^\/api\.php\?/);
    }
  });

  it("nothing is believed unless the operator says so", async () => {
    const { address } = await serve(built.site);
    expect(linksOf(await ask(address + query, forwarded)).get("next")).toMatch(/^\/api\.php\?/);
  });
});

describe("the access log", () => {
  it("has a line for each request, in words of ours, and is opened anew on SIGHUP", async () => {
    const log = join(temporaryFolder(), "access.log");
    const serving = await startServing(["serve", "--site", built.site, "--access-log", log, "--trust-proxy"]);
    await ask(`${serving.address}/api.php?LIMIT=secret1&limit=3&format=CSV`, {
      "x-forwarded-for": "x, 192.0.2.7",
    });
    await ask(`${serving.address}/api.php?region=secret2`, { "user-agent": "secret3" });
    await ask(`${serving.address}/secret4%0a%22`);
    await ask(`${serving.address}/exports/all/all.gpx`, { "accept-encoding": "gzip" });
    const text = await eventually(
      () => readFileSync(log, "utf8"),
      (now) => now.split("\n").length === 5,
    );
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({
      client: "192.0.2.7",
      method: "GET",
      route: "api",
      asked: "format=csv&limit=3",
      status: 200,
      complete: true,
    });
    expect(lines[0].bytes).toBeGreaterThan(100);
    expect(lines[1]).toMatchObject({ route: "api", asked: "", status: 200 });
    expect(lines[2]).toMatchObject({ route: "other", asked: "", status: 404 });
    expect(lines[3]).toMatchObject({ route: "file", asked: "/exports/all/all.gpx", coding: "gzip" });
    expect(text).not.toContain("secret");
    if (process.platform !== "win32") {
      renameSync(log, `${log}.1`);
      serving.process.kill("SIGHUP");
      await eventually(
        () => existsSync(log),
        (isThere) => isThere,
      );
      await ask(`${serving.address}/healthz`);
      await eventually(
        () => readFileSync(log, "utf8"),
        (now) => now.includes('"route":"health"'),
      );
    }
    serving.process.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
  });
});

describe("metrics", () => {
  it("are on a port of their own, and count answers by kind and status", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => free.once("listening", resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const serving = await startServing(["serve", "--site", built.site, "--metrics-port", String(port)]);
    await ask(`${serving.address}/api.php?limit=3`);
    await ask(`${serving.address}/api.php?limit=0`);
    const metrics = `http://127.0.0.1:${port}/metrics`;
    const text = await eventually(
      async () => (await ask(metrics)).text,
      (now) => now.includes('shelters_answers_total{route="api",status="400"} 1'),
    );
    expect(text).toContain('shelters_answers_total{route="api",status="200"} 1');
    expect(text).toContain("shelters_places 120");
    expect(text).toMatch(/shelters_data_timestamp_seconds 1\.?\d+/);
    expect(text).toContain('shelters_answer_seconds_count{route="api"} 2');
    expect((await ask(`${serving.address}/metrics`)).status).toBe(404);
    expect((await ask(`http://127.0.0.1:${port}/`)).status).toBe(404);
    serving.process.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
  });
});

describe("several processes", () => {
  it("share the port; one that is killed is replaced; a new release reaches all; SIGTERM ends them", async () => {
    const own = await buildRelease(placesOfNoRegion(60));
    const serving = await startServing(["serve", "--site", own.site, "--workers", "2"]);
    const children = (): string[] => {
      const found = execFileSync("ps", ["-o", "pid=", "--ppid", String(serving.process.pid)], {
        encoding: "utf8",
      });
      return found.trim().split(/\s+/);
    };
    const before = children();
    expect(before).toHaveLength(2);
    process.kill(Number(before[0]), "SIGKILL");
    await eventually(children, (now) => now.length === 2 && !now.includes(before[0] ?? ""));
    const generations = async (): Promise<string[]> => {
      const replies = await Promise.all(Array.from({ length: 8 }, () => ask(`${serving.address}/healthz`)));
      return [...new Set(replies.map(({ text }) => JSON.parse(text).generation as string))];
    };
    await eventually(generations, (now) => now.length === 1 && now[0] === own.manifest.generation);
    await pullRecords(own.database, placesOfNoRegion(61));
    const { generation } = await rebuild(own.database, own.site);
    await eventually(generations, (now) => now.length === 1 && now[0] === generation);
    serving.process.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
    await expect(ask(`${serving.address}/healthz`)).rejects.toThrow("ECONNREFUSED");
  });

  it("say what is wrong as one process does", async () => {
    const { address } = await serve(built.site);
    const { port } = new URL(address);
    const taken = await runCli(["serve", "--site", built.site, "--port", port, "--workers", "2"]);
    expect([taken.code, taken.stderr]).toEqual([6, expect.stringContaining("is taken")]);
    const missing = await runCli(["serve", "--site", join(temporaryFolder(), "none"), "--workers", "2"]);
    expect([missing.code, missing.stderr]).toEqual([5, expect.stringContaining("There is no release")]);
    expect((await runCli(["serve", "--workers", "0"])).code).toBe(2);
  });
});

describe("200 clients that ask for everything and read nothing", () => {
  it("cost little memory, keep nobody from answers, and are let go", async () => {
    const large = await buildRelease(
      placesOfNoRegion(600).map((place, id) => ({
        ...(place as object),
        descriptif: `${id} long text `.repeat(400),
      })),
    );
    const server = await serve(large.site, { limits: { stall: 2_000, keepAlive: 1_000 } });
    const before = process.memoryUsage();
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(server.address)));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of sockets) {
      socket.pause();
      socket.write("GET /api.php?limit=599 HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    const bytes = (await ask(`${server.address}/api.php?limit=599`)).body.length;
    expect(bytes).toBeGreaterThan(3_000_000);
    const after = process.memoryUsage();
    // 200 copies would be more than 600 MB; what is sent is one and the same memory.
    expect(after.rss + after.external - before.rss - before.external).toBeLessThan(bytes * 40);
    await eventually(
      () => server.connections(),
      (count) => count === 0,
    );
    for (const socket of sockets) socket.resume();
    await Promise.all(closed);
    expect((await ask(`${server.address}/healthz`)).status).toBe(200);
  });
});

describe("a release that is opened in steps", () => {
  it("is the same one, and lets others work in between", async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const started = performance.now();
    const loaded = await loadRelease(built.site);
    isDone = true;
    // Every few milliseconds, however long it takes: one step is at most a file that was read at the start.
    expect(turns).toBeGreaterThan(Math.min(10, (performance.now() - started) / 50));
    const opened = openRelease(built.site);
    expect([loaded.tag, loaded.manifest]).toEqual([opened.tag, opened.manifest]);
    loaded.retire();
    opened.retire();
  });
});

describe("a build over an older release", () => {
  it("takes compressed forms of unchanged content over, but only sound ones", async () => {
    const own = await buildRelease(placesOfNoRegion(40));
    const csv = join(own.site, "exports/all/all.csv");
    const fresh = readFileSync(`${csv}.gz`);
    // Another, equally right form, entered in the manifest: only taking it over can bring it into the next release.
    const marked = Buffer.concat([fresh, execFileSync("gzip", ["-nc"], { input: "" })]);
    const digest = execFileSync("sha256sum", { input: marked, encoding: "utf8" }).slice(0, 64);
    const manifest = JSON.parse(readFileSync(join(own.site, "manifest.json"), "utf8"));
    const entry = manifest.files.find((file: { path: string }) => file.path === "exports/all/all.csv");
    entry.codings.gzip = { bytes: marked.length, sha256: digest };
    writeFileSync(join(own.site, "manifest.json"), JSON.stringify(manifest));
    writeFileSync(`${csv}.gz`, marked);
    await rebuild(own.database, own.site);
    expect(readFileSync(`${csv}.gz`).equals(marked)).toBe(true);

    writeFileSync(`${csv}.gz`, Buffer.alloc(marked.length));
    await rebuild(own.database, own.site);
    expect(readFileSync(`${csv}.gz`).equals(fresh)).toBe(true);
  });

  it("may leave brotli out", async () => {
    const own = await buildRelease(placesOfNoRegion(40));
    expect(
      (await runCli(["build", "--database", own.database, "--site", own.site, "--no-brotli"])).code,
    ).toBe(0);
    expect(existsSync(join(own.site, "exports/all/all.csv.br"))).toBe(false);
    expect((await runCli(["verify", "--site", own.site])).code).toBe(0);
    const { address } = await serve(own.site);
    const reply = await ask(`${address}/exports/all/all.csv`, { "accept-encoding": "br, gzip" });
    expect(reply.headers["content-encoding"]).toBe("gzip");
  });
});
