import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { FetchSource, PMTiles, zxyToTileId } from "pmtiles";
import { beforeAll, describe, expect, test } from "vitest";
import { build } from "../src/build/build.js";
import { tileId } from "../src/map/pmtiles.js";
import { tileJson } from "../src/map/tilejson.js";
import { type Tile, type TilePlace, tilePlaces } from "../src/map/tiles.js";
import { readManifest } from "../src/release/manifest.js";
import { startReader } from "../src/store/reader.js";
import { writeBasemap } from "./setup/basemap.js";
import { runCli } from "./setup/cli.js";
import { digestsBelow, filesBelow, temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { about, pullRecords } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

const MAX_ZOOM = 12;
const EXTENT = 4096;

/** Positions spread over the whole world, its seams included. */
function worldPlaces(count: number): TilePlace[] {
  const edges = [
    [180, 0],
    [-180, 10],
    [0, 0],
    [179.9999, -45],
    [-0.0000001, 51.5],
    [11.25, 66.51326],
  ] as const;
  return Array.from({ length: count }, (_, at) => {
    const [lon, lat] = edges[at] ?? [((at * 137.508) % 360) - 180, ((at * 61.8) % 160) - 80];
    const category = ([1, 2, 3, 4, 5, 6, 7, null] as const)[at % 8] ?? null;
    const altitude = at % 3 === 0 ? null : at;
    return {
      id: at + 1,
      name: `Place ${at}`,
      lon,
      lat,
      category,
      region: null,
      altitude,
      summerCapacity: null,
    };
  });
}

interface Spot {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A tile as an independent reader sees it; fails for what is not strict MVT 2.1. */
function decode(bytes: Uint8Array): Spot[] {
  const { layers } = new VectorTile(new PbfReader(bytes));
  expect(Object.keys(layers)).toEqual(["places"]);
  const layer = layers["places"];
  expect(layer?.version).toBe(2);
  expect(layer?.extent).toBe(EXTENT);
  return Array.from({ length: layer?.length ?? 0 }, (_, at) => {
    const feature = layer?.feature(at);
    const points = feature?.loadGeometry() ?? [];
    expect(feature?.type).toBe(1);
    expect(points).toHaveLength(1);
    expect(points[0]).toHaveLength(1);
    expect(Number.isInteger(feature?.id)).toBe(true);
    const { x = Number.NaN, y = Number.NaN } = points[0]?.[0] ?? {};
    return { id: feature?.id ?? 0, x, y, properties: feature?.properties ?? {} };
  });
}

/** How often each place stands inside a tile of each zoom, buffers aside. */
function countByZoom(tiles: readonly Tile[]): Map<number, Map<number, number>> {
  const zooms = new Map<number, Map<number, number>>();
  for (const { z, bytes } of tiles) {
    const counts = zooms.get(z) ?? new Map<number, number>();
    zooms.set(z, counts);
    for (const { id, x, y } of decode(bytes))
      if (x >= 0 && x < EXTENT && y >= 0 && y < EXTENT) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return zooms;
}

describe("tiles", () => {
  test("hold every place exactly once at every zoom, all round the world", () => {
    const places = worldPlaces(300);
    const zooms = countByZoom([...tilePlaces(places, MAX_ZOOM)]);
    expect([...zooms.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: MAX_ZOOM + 1 }, (_, z) => z),
    );
    for (const [zoom, counts] of zooms) {
      expect(counts.size, `places of zoom ${zoom}`).toBe(places.length);
      for (const [id, count] of counts) expect(count, `place ${id} of zoom ${zoom}`).toBe(1);
    }
  });

  test("repeat a place beyond the edge, so that no symbol is cut", () => {
    const onEdge: TilePlace = { ...(worldPlaces(1)[0] as TilePlace), lon: 0.0001, lat: 42 };
    const atZoom8 = [...tilePlaces([onEdge], 8)].filter(({ z }) => z === 8);
    expect(atZoom8.map(({ x }) => x)).toEqual([127, 128]);
    expect(atZoom8.flatMap(({ bytes }) => decode(bytes).map(({ id }) => id))).toEqual([1, 1]);
  });

  test("carry id and category only at low zooms, and never a null", () => {
    const place: TilePlace = { ...(worldPlaces(2)[1] as TilePlace), region: "Aragón", summerCapacity: 12 };
    for (const { z, bytes } of tilePlaces([place], MAX_ZOOM))
      for (const { properties } of decode(bytes))
        expect(properties).toEqual(
          z < 8
            ? { id: 2, type_lieu: 2 }
            : { id: 2, type_lieu: 2, name: "Place 1", altitude_m: 1, capacity_summer: 12, region: "Aragón" },
        );
  });

  test("come out the same whether made in one go or cell by cell", () => {
    const places = worldPlaces(200);
    const four = [...tilePlaces(places, 4)];
    const twelve = [...tilePlaces(places, MAX_ZOOM)].filter(({ z }) => z <= 4);
    expect(twelve.map(({ z, x, y }) => [z, x, y])).toEqual(four.map(({ z, x, y }) => [z, x, y]));
    expect(twelve.map(({ bytes }) => Buffer.from(bytes).toString("hex"))).toEqual(
      four.map(({ bytes }) => Buffer.from(bytes).toString("hex")),
    );
  });

  test("are thinned by importance, never by chance, and say how many places were left out", () => {
    const places = worldPlaces(400).map((place) => ({ ...place, lon: 1 + place.id / 1e6, lat: 42 }));
    const limit = 2000;
    const tiles = [...tilePlaces(places, 3, limit)];
    expect(tiles.map(({ z }) => z)).toEqual(expect.arrayContaining([0, 1, 2, 3]));
    for (const { bytes, leftOut } of tiles) {
      expect(bytes.length).toBeLessThanOrEqual(limit);
      expect(bytes.length).toBeGreaterThan(limit * 0.8);
      const kept = decode(bytes);
      expect(kept.length + leftOut).toBe(places.length);
      const order = [6, 5, 2, 3, 4, 1, 7];
      const worst = Math.max(...kept.map(({ properties }) => order.indexOf(Number(properties["type_lieu"]))));
      const keptIds = new Set(kept.map(({ id }) => id));
      for (const place of places)
        if (order.indexOf(Number(place.category)) < worst && place.category !== null)
          expect(keptIds.has(place.id), `place ${place.id} of category ${place.category}`).toBe(true);
    }
    expect(places.some(({ category }) => category === null)).toBe(true);
  });

  test("say in their TileJSON which zooms were thinned, and by which rule", () => {
    const provenance = { title: "t", attribution: "a", license: "l", date: "2026-01-02T03:04:05Z" };
    const facts = { ...provenance, generation: "g", bbox: null, maxZoom: 10 };
    const thinned = tileJson({ ...facts, thinnedZooms: [0, 1] }, null);
    expect(thinned.thinned_zooms).toEqual([0, 1]);
    expect(thinned.description).toContain("Thinned at zoom 0, 1. A tile of more than 500 KB");
    const whole = tileJson({ ...facts, thinnedZooms: [] }, null);
    expect([whole.thinned_zooms, /thinned/i.test(whole.description)]).toEqual([[], false]);
  });

  test("have the ids that PMTiles gives them, to the deepest zoom", () => {
    for (let z = 0; z <= 5; z++)
      for (let x = 0; x < 2 ** z; x++)
        for (let y = 0; y < 2 ** z; y++) expect(tileId(z, x, y)).toBe(zxyToTileId(z, x, y));
    for (const [z, x, y] of [
      [12, 4095, 0],
      [15, 32767, 32767],
      [15, 1, 30000],
    ] as const)
      expect(tileId(z, x, y)).toBe(zxyToTileId(z, x, y));
  });
});

describe("a release with tiles", () => {
  const records = madePlaces(150).map((place) => ({ ...place, region: "Aragón" }));
  let folder: string;
  let database: string;
  let site: string;
  let server: TestServer;
  beforeAll(async () => {
    folder = temporaryFolder();
    database = join(folder, "places.sqlite");
    site = join(folder, "site");
    await pullRecords(database, records);
    await build({ database, site, onProgress: () => {} });
    server = await serve(site);
  });

  test("has the same bytes each time, whatever order the places came in", async () => {
    const other = join(folder, "other.sqlite");
    await pullRecords(other, [...records].reverse());
    await build({ database: other, site: join(folder, "again"), onProgress: () => {} });
    expect(digestsBelow(join(folder, "again"))).toEqual(digestsBelow(site));
  });

  test("lists every tile with its compressed forms, and holds the same places in all of them", () => {
    const { manifest } = readManifest(site);
    const tiles = manifest.files.filter(({ path }) => path.startsWith("tiles/"));
    expect(manifest.maxTileZoom).toBe(MAX_ZOOM);
    expect(tiles.length).toBeGreaterThan(300);
    for (const { path, mediaType, codings } of tiles) {
      expect(mediaType).toBe("application/vnd.mapbox-vector-tile");
      expect(Object.keys(codings)).toEqual(["gzip", "br"]);
      if (path.endsWith("0.pbf"))
        expect(gunzipSync(readFileSync(join(site, `${path}.gz`)))).toEqual(readFileSync(join(site, path)));
    }
    expect(decode(readFileSync(join(site, "tiles/0/0/0.pbf")))).toHaveLength(records.length);
  });

  test("answers a tile, 204 for one that is empty, 404 for one that cannot be", async () => {
    const full = await ask(`${server.address}/tiles/0/0/0.pbf`, { "Accept-Encoding": "br" });
    expect(full.status).toBe(200);
    expect(full.headers["content-type"]).toBe("application/vnd.mapbox-vector-tile");
    expect(full.headers["content-encoding"]).toBe("br");
    const empty = await ask(`${server.address}/tiles/12/0/0.pbf`);
    expect([empty.status, empty.text, empty.headers["access-control-allow-origin"]]).toEqual([204, "", "*"]);
    for (const path of ["13/0/0", "12/4096/0", "0/0/1", "x/0/0", "12/0/0.0"])
      expect((await ask(`${server.address}/tiles/${path}.pbf`)).status, path).toBe(404);
    const posted = await ask(`${server.address}/tiles/12/0/0.pbf`, {}, "POST");
    expect(posted.status).toBe(405);
  });

  test("has a TileJSON whose address is the one that it was asked under", async () => {
    const { headers, text, status } = await ask(`${server.address}/tiles.json`);
    const json = JSON.parse(text);
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(json.tiles).toEqual([`${server.address}/tiles/{z}/{x}/{y}.pbf`]);
    expect(json).toMatchObject({
      tilejson: "3.0.0",
      scheme: "xyz",
      minzoom: 0,
      maxzoom: MAX_ZOOM,
      attribution: about.attribution,
      name: about.title,
      vector_layers: [{ id: "places", minzoom: 0, maxzoom: MAX_ZOOM }],
    });
    const [west, south, east, north] = json.bounds;
    expect(json.center[0]).toBeGreaterThan(west);
    expect(json.center[0]).toBeLessThan(east);
    expect(json.center[1]).toBeGreaterThan(south);
    expect(json.center[1]).toBeLessThan(north);
    expect(Object.keys(json.vector_layers[0].fields)).toContain("capacity_summer");
    const behindProxy = await ask(`${server.address}/tiles.json`, {
      Host: "huts.example.org",
      "X-Forwarded-Proto": "https",
    });
    expect(JSON.parse(behindProxy.text).tiles).toEqual(["https://huts.example.org/tiles/{z}/{x}/{y}.pbf"]);
    const again = await ask(`${server.address}/tiles.json`, { "If-None-Match": String(headers.etag) });
    expect(again.status).toBe(304);
    const stored = await ask(`${server.address}/tiles.json`, { Range: "bytes=0-" });
    expect([stored.status, stored.body]).toEqual([206, readFileSync(join(site, "tiles.json"))]);
    const evil = await ask(`${server.address}/tiles.json`, { Host: 'x"/><script>' });
    expect(evil.text).not.toContain("<script>");
  });

  test("has a PMTiles archive that its own reader opens over our ranges", async () => {
    const archive = new PMTiles(new FetchSource(`${server.address}/places.pmtiles`));
    const header = await archive.getHeader();
    expect(header).toMatchObject({
      specVersion: 3,
      clustered: true,
      tileType: 1,
      tileCompression: 2,
      maxZoom: MAX_ZOOM,
    });
    const { manifest } = readManifest(site);
    const tiles = manifest.files.filter(({ path }) => path.startsWith("tiles/"));
    expect(header.numAddressedTiles).toBe(tiles.length);
    for (const { path } of tiles.filter((_, at) => at % 37 === 0)) {
      const [z = 0, x = 0, y = 0] = path.match(/\d+/g)?.map(Number) ?? [];
      const tile = await archive.getZxy(z, x, y);
      expect(Buffer.from(tile?.data ?? new ArrayBuffer())).toEqual(readFileSync(join(site, path)));
    }
    expect(await archive.getZxy(12, 0, 0)).toBeUndefined();
    expect(await archive.getMetadata()).toMatchObject({
      attribution: about.attribution,
      vector_layers: [{ id: "places" }],
    });
  });

  test("is read by GDAL, feature by feature", ({ skip }) => {
    const gdal = spawnSync("ogrinfo", ["--version"], { encoding: "utf8" });
    if (gdal.status !== 0 && process.env["CI"]) throw new Error("GDAL is missing: in CI it must be there.");
    skip(gdal.status !== 0, "GDAL (ogrinfo) is not installed");
    const { manifest } = readManifest(site);
    const tile = manifest.files.find(({ path }) => /^tiles\/8\//.test(path))?.path ?? "";
    const [z, x, y] = tile.match(/\d+/g) ?? [];
    const plain = readFileSync(join(site, tile));
    writeFileSync(join(folder, "one.pbf"), plain);
    const said = execFileSync(
      "ogrinfo",
      ["-al", "-oo", `X=${x}`, "-oo", `Y=${y}`, "-oo", `Z=${z}`, `MVT:${join(folder, "one.pbf")}`],
      { encoding: "utf8" },
    );
    expect(said).toContain("Layer name: places");
    expect(said).toContain(`Feature Count: ${decode(plain).length}`);
    expect(said).toMatch(/mvt_id \(Integer64\) = \d+/);
    expect(said).toMatch(/POINT \(/);
  });

  test("without tiles still has the page; with an address of its own its TileJSON is absolute", async () => {
    const bare = join(folder, "bare");
    const none = await runCli(["build", "--database", database, "--site", bare, "--no-tiles"]);
    expect(none.code).toBe(0);
    const { manifest } = readManifest(bare);
    expect(manifest.maxTileZoom).toBeUndefined();
    expect(manifest.files.filter(({ path }) => /^tiles|pmtiles/.test(path))).toEqual([]);
    expect(manifest.files.map(({ path }) => path)).toEqual(expect.arrayContaining(["index.html", "app.js"]));
    const low = join(folder, "low");
    const flags = ["--max-zoom", "3", "--base-url", "https://huts.example.org/pyrenees/"];
    expect((await runCli(["build", "--database", database, "--site", low, ...flags])).code).toBe(0);
    const json = JSON.parse(readFileSync(join(low, "tiles.json"), "utf8"));
    expect([json.tiles, json.maxzoom]).toEqual([
      ["https://huts.example.org/pyrenees/tiles/{z}/{x}/{y}.pbf"],
      3,
    ]);
    for (const wrong of [
      ["--max-zoom", "16"],
      ["--max-zoom", "x"],
      ["--base-url", "ftp://x"],
    ])
      expect((await runCli(["build", "--database", database, "--site", low, ...wrong])).code).toBe(2);
    const foreign = await runCli(["build", "--database", database, "--site", low, "--basemap", "README.md"]);
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining("no PMTiles archive")]);
  });

  test("is not made of two data sets when a pull ends in the middle of the build", async () => {
    const { title, attribution, license, date } = about;
    const facts = { title, attribution, license, date, generation: "0", bbox: null };
    const options = { maxZoom: 2, baseUrl: null };
    const made = temporaryFolder();
    const task = {
      database,
      contentHash: "of other places",
      options: { folder: made, about: facts, options },
    };
    const work = startReader("map/tilethread.js", task, () => {});
    await expect(work.done).rejects.toMatchObject({
      code: "busy",
      message: expect.stringContaining("build again"),
    });
    await work.stop();
    expect(filesBelow(made)).toEqual([]);
  });

  test("carries an operator's basemap as it is, and refuses what is none in the Protomaps layout", async () => {
    const mapped = join(folder, "mapped");
    const basemap = writeBasemap(join(folder, "basemap.pmtiles"));
    const built = await runCli(["build", "--database", database, "--site", mapped, "--basemap", basemap]);
    expect(built.code).toBe(0);
    expect(readFileSync(join(mapped, "basemap.pmtiles"))).toEqual(readFileSync(basemap));
    const said = JSON.parse(readFileSync(join(mapped, "page.json"), "utf8")).basemap;
    expect(said.credit).toContain("Made-up contributors");
    expect(
      readManifest(mapped).manifest.files.find(({ path }) => path === "basemap.pmtiles")?.sha256,
    ).toMatch(new RegExp(`^${said.version}`));
    const foreign = writeBasemap(join(folder, "foreign.pmtiles"), ["streets"]);
    writeFileSync(join(folder, "short.pmtiles"), readFileSync(basemap).subarray(0, 100));
    for (const [path, why] of [
      [foreign, "none of the vector layers of the Protomaps layout"],
      [join(folder, "short.pmtiles"), "no PMTiles archive"],
      [join(folder, "absent.pmtiles"), "no PMTiles archive"],
    ] as const) {
      const refused = await runCli(["build", "--database", database, "--site", mapped, "--basemap", path]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
