import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "./setup/folders.js";
import { contentHash } from "./setup/stored.js";
import { startUpstream, type Upstream } from "./setup/upstream.js";

let database: string;
let upstream: Upstream;

beforeEach(async () => {
  database = join(temporaryFolder(), "places.sqlite");
  upstream = await startUpstream({ count: 333, delay: 40 });
});
afterEach(() => upstream.close());

function startPull(...more: string[]): ChildProcess {
  const args = [
    "dist/app/cli.js",
    "--json",
    "pull",
    "--from",
    upstream.address,
    "--database",
    database,
    ...more,
  ];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
}

/** Exit code, or the signal that ended it, and what it printed. */
async function ended(child: ChildProcess): Promise<{ code: number | string; out: string; err: string }> {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (text) => {
    out += text;
  });
  child.stderr?.on("data", (text) => {
    err += text;
  });
  const [code, signal] = await once(child, "close");
  return { code: code ?? signal, out, err };
}

const until = async (happened: () => boolean): Promise<void> => {
  for (let waited = 0; !happened(); waited += 10) {
    if (waited > 20_000) throw new Error("it did not happen within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

test("a killed pull goes on behind its last page, and ends as if it had not been killed", async () => {
  const first = startPull();
  const end = ended(first);
  await until(() => upstream.requests.length >= 6);
  first.kill("SIGKILL");
  expect((await end).code).toBe("SIGKILL");
  expect(existsSync(`${database}-pull`)).toBe(true);
  const asked = [...upstream.requests];
  upstream.requests.length = 0;
  expect((await ended(startPull())).code).toBe(0);
  // The page in flight is asked for again, the ones before it are not; everything is, for the second look.
  for (const request of asked.slice(1, -2)) expect(upstream.requests).not.toContain(request);
  expect(existsSync(`${database}-pull`)).toBe(false);
  const resumed = contentHash(database);
  rmSync(database);
  expect((await ended(startPull())).code).toBe(0);
  expect(contentHash(database)).toBe(resumed);
});

test("pages of another source or other options are not taken over", async () => {
  const first = startPull();
  const end = ended(first);
  await until(() => upstream.requests.length >= 4);
  first.kill("SIGKILL");
  await end;
  upstream.requests.length = 0;
  expect((await ended(startPull("--regions", "Aragon"))).code).toBe(0);
  expect(upstream.requests.filter((request) => !request.includes("type_lieu"))).toEqual([
    expect.not.stringContaining("region="),
    expect.stringContaining("region=Aragon"),
    expect.not.stringContaining("region="),
  ]);
});

test("of two pulls at once the second says so and stops", async () => {
  let release = (): void => {};
  upstream.always = (_request, response, body) => {
    release = () => {
      upstream.always = null;
      response.end(body);
    };
    return undefined;
  };
  const end = ended(startPull());
  await until(() => upstream.requests.length === 1);
  const second = await ended(startPull());
  release();
  expect(second.code).toBe(6);
  expect(second.err).toMatch(/Another pull is writing/);
  expect((await end).code).toBe(0);
});

test("kill -9 at any moment leaves the old places or the new ones, whole", async () => {
  expect((await ended(startPull())).code).toBe(0);
  const hashes = new Set([contentHash(database)]);
  const all = upstream.places;
  upstream.places = all.map((place) => ({ ...place, name: `${place.name} bis` }));
  let killed = 0;
  for (let round = 0; killed < 10; round++) {
    const child = startPull("--force");
    const end = ended(child);
    // From before the first request to around the commit.
    setTimeout(() => child.kill("SIGKILL"), 150 + ((round * 137) % 1000));
    if ((await end).code === "SIGKILL") killed++;
    const sqlite = new Database(database);
    expect(sqlite.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(sqlite.prepare("SELECT count(*) FROM place").pluck().get()).toBe(333);
    sqlite.close();
    hashes.add(contentHash(database));
  }
  expect((await ended(startPull("--force"))).code).toBe(0);
  hashes.add(contentHash(database));
  expect(hashes.size).toBe(2);
});
