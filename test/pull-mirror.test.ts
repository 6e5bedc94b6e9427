import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build } from "../src/build.js";
import { pull } from "../src/pull.js";
import { type RunningServer, startServer } from "../src/server.js";
import { openStore } from "../src/store.js";
import { startUpstream, type TruePlace, type Upstream } from "./setup/upstream.js";

let folder: string;
let upstream: Upstream;
const servers: RunningServer[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pull-mirror-"));
  upstream = await startUpstream({ count: 90 });
  upstream.edit = ({ properties }) => {
    properties["eau"] = "source à 5 mn";
  };
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const database = (name: string): string => join(folder, `${name}.sqlite`);
const site = (name: string): string => join(folder, name);

async function pullAndBuild(name: string, from: string): Promise<void> {
  await pull({
    from,
    database: database(name),
    force: true,
    about: {},
    onProgress: () => {},
    limits: { pause: 1 },
  });
  await build({ database: database(name), site: site(name), onProgress: () => {} });
}

async function serve(name: string): Promise<string> {
  const server = await startServer({ site: site(name), host: "127.0.0.1", port: 0, log: () => {} });
  servers.push(server);
  return `${server.address}/api.php`;
}

/** Every file of a folder, by path. */
function filesOf(name: string): Map<string, Buffer> {
  const paths = readdirSync(site(name), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    paths
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(site(name).length), readFileSync(path)] as const),
  );
}

function expectSameFiles(one: string, other: string): void {
  const [files, others] = [filesOf(one), filesOf(other)];
  expect([...others.keys()].sort()).toEqual([...files.keys()].sort());
  expect(String(others.get("/manifest.json"))).toBe(String(files.get("/manifest.json")));
  expect(
    [...files].filter(([path, bytes]) => !others.get(path)?.equals(bytes)).map(([path]) => path),
  ).toEqual([]);
}

function placesOf(name: string): unknown[] {
  const store = openStore(database(name));
  try {
    return [...store.places()];
  } finally {
    store.close();
  }
}

test("a chain of mirrors has the same bytes in every file, history and all", async () => {
  await pullAndBuild("origin", upstream.address);
  upstream.places = upstream.places
    .slice(1)
    .map((place) => (place.id === 5 ? { ...place, altitude: "2001" } : place))
    .concat({ ...(upstream.places[3] as TruePlace), id: 9001 });
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await pullAndBuild("origin", upstream.address);
  const origin = await serve("origin");
  await pullAndBuild("first", origin);
  const first = await serve("first");
  await pullAndBuild("second", first);
  expect(placesOf("first")).toEqual(placesOf("origin"));
  expectSameFiles("origin", "first");
  expectSameFiles("origin", "second");
  const manifest = JSON.parse(String(filesOf("second").get("/manifest.json"))) as Record<string, unknown>;
  expect(manifest["source"]).toBe(upstream.address);
  expect(manifest["pulledAt"]).toBe(manifest["date"]);
  expect(manifest["pulled"]).toMatchObject({ read: 90 });
});

test("a pull from an unchanged mirror costs one 304, and one from a new generation takes it over", async () => {
  const from = `${servers[0]?.address}/api.php`;
  const options = { from, database: database("first"), force: false, about: {}, onProgress: () => {} };
  await pull(options);
  expect((await pull(options)).unchanged).toBe(true);
  upstream.places = upstream.places.map((place) => (place.id === 6 ? { ...place, summer: "77" } : place));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await pullAndBuild("origin", upstream.address);
  const generation = (): string | undefined => servers[0]?.release().manifest.generation;
  const before = generation();
  for (let waited = 0; generation() === before && waited < 100; waited++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await pull(options)).difference).toMatchObject({ changed: 1, added: 0, removed: 0 });
  await build({ database: database("first"), site: site("first"), onProgress: () => {} });
  expectSameFiles("origin", "first");
});
