import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build } from "../src/build/build.js";
import { pull } from "../src/pull/pull.js";
import { type RunningServer, startServer } from "../src/serve/server.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { stored } from "./setup/stored.js";
import { startUpstream, type TruePlace, type Upstream } from "./setup/upstream.js";

const folder = temporaryFolder();
let upstream: Upstream;
const servers: RunningServer[] = [];

beforeAll(async () => {
  upstream = await startUpstream({ count: 90 });
  upstream.edit = ({ properties }) => {
    const key = /[02468]$/.test(String(properties["url"])) ? "eau" : "bois";
    properties[key] = "à 5 mn";
  };
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await upstream.close();
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
  await buildSite(name);
}

/** Brotli forms and deep tiles are of the same places: they would take most of the time and find no other fault. */
async function buildSite(name: string): Promise<void> {
  const options = { brotli: false, map: { maxZoom: 6 } };
  await build({ ...options, database: database(name), site: site(name), onProgress: () => {} });
}

async function serve(name: string): Promise<string> {
  const server = await startServer({ site: site(name), host: "127.0.0.1", port: 0, log: () => {} });
  servers.push(server);
  return `${server.address}/api.php`;
}

function expectSameFiles(one: string, other: string): void {
  expect(digestsBelow(site(other))).toEqual(digestsBelow(site(one)));
}

function placesOf(name: string): unknown[] {
  return stored(database(name), (store) => [...store.places()]);
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
  const manifest = JSON.parse(readFileSync(join(site("second"), "manifest.json"), "utf8")) as Record<
    string,
    unknown
  >;
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
  await buildSite("first");
  expectSameFiles("origin", "first");
});
