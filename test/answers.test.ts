import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { type FormatName, formatNames, formats } from "../src/formats/index.js";
import type { Place } from "../src/place.js";
import { program } from "../src/program.js";
import { openStore } from "../src/store/store.js";
import { ask, decoded, linksOf } from "./setup/http.js";
import { madePlaces, oddRegions } from "./setup/madeplaces.js";
import { about, type BuiltRelease, buildRelease, lean, pullRecords, rebuild } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

const records = madePlaces(400, 3);
let release: BuiltRelease;
let server: TestServer;
let places: Place[]; // in canonical order
let extraKeys: readonly string[];

beforeAll(async () => {
  release = await buildRelease(records);
  server = await serve(release.site);
  const store = openStore(release.database);
  places = [...store.places()];
  extraKeys = store.extraKeys();
  store.close();
});

/** What a plain filter and the encoder give for a page. */
function encode(
  format: FormatName,
  chosen: readonly Place[],
  region: string | null = null,
  category: number | null = null,
): string {
  const said = {
    ...about,
    generator: program.generator,
    generation: release.manifest.generation,
    extraKeys,
    region,
    category: category as Place["category"],
    bbox: null,
  };
  const encoder = formats[format];
  return encoder.prologue(said) + chosen.map(encoder.place).join(encoder.separator) + encoder.epilogue(said);
}

function query(values: Readonly<Record<string, string | number>>): string {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) sent.set(name, String(value));
  return `${server.address}/api.php?${sent}`;
}

describe("a planned export", () => {
  it("is the same bytes on disk, as a file and from the API, in every coding", async () => {
    const regions = [{ name: null, slug: "all" }, ...release.manifest.regions];
    let compared = 0;
    for (const { name, slug } of regions) {
      for (const category of [null, 1, 2, 3, 4, 5, 6, 7]) {
        for (const format of formatNames) {
          const path = `exports/${slug}/${category ?? "all"}.${format}`;
          const url = query({
            format,
            ...(category !== null && { type_lieu: category }),
            ...(name !== null && { region: name }),
          });
          const plain = readFileSync(join(release.site, path));
          for (const [coding, extension] of [
            ["identity", ""],
            ["gzip", ".gz"],
            ["br", ".br"],
          ] as const) {
            const onDisk = readFileSync(join(release.site, path + extension));
            const [file, api] = await Promise.all([
              ask(`${server.address}/${path}`, { "accept-encoding": coding }),
              ask(url, { "accept-encoding": coding }),
            ]);
            for (const reply of [file, api]) {
              expect(reply.status).toBe(200);
              expect(reply.headers["content-encoding"] ?? "identity").toBe(coding);
              expect(reply.body.equals(onDisk), `${path} ${coding}`).toBe(true);
              expect(decoded(reply).equals(plain), `${path} ${coding}`).toBe(true);
            }
            expect(api.headers["etag"]).toBe(file.headers["etag"]);
            compared++;
          }
        }
      }
    }
    expect(compared).toBe((oddRegions.length + 1) * 8 * 5 * 3);
  });

  it("is there in its compressed form under its own name, for hosts that only copy files", async () => {
    const plain = readFileSync(join(release.site, "exports/all/all.gpx"));
    const gz = await ask(`${server.address}/exports/all/all.gpx.gz`, { "accept-encoding": "gzip" });
    expect(gz.headers["content-encoding"]).toBeUndefined();
    expect(gunzipSync(gz.body).equals(plain)).toBe(true);
    const br = await ask(`${server.address}/exports/all/all.gpx.br`);
    expect(brotliDecompressSync(br.body).equals(plain)).toBe(true);
  });
});

describe("a cut answer", () => {
  it("holds what a plain filter finds, as the encoder writes it", async () => {
    const one = places[200] as Place;
    const boxes = [
      [-0.5, 42.2, 0.9, 43.1],
      [one.lon, one.lat, one.lon, one.lat],
      [one.lon, -90, 180, one.lat],
      [-180, -90, 180, 90],
      [10, 10, 11, 11],
    ] as const;
    for (const box of boxes) {
      for (const [region, category] of [
        [null, null],
        ["Aragón", null],
        [null, 5],
        ["日本", 2],
        ["nowhere", 1],
      ] as const) {
        const [west, south, east, north] = box;
        const chosen = places.filter(
          (place) =>
            place.lon >= west &&
            place.lon <= east &&
            place.lat >= south &&
            place.lat <= north &&
            (region === null || place.region === region) &&
            (category === null || place.category === category),
        );
        for (const format of formatNames) {
          const reply = await ask(
            query({
              format,
              bbox: box.join(","),
              ...(region !== null && { region }),
              ...(category !== null && { type_lieu: category }),
            }),
          );
          expect(reply.headers["ogc-numbermatched"]).toBe(String(chosen.length));
          expect(reply.headers["ogc-numberreturned"]).toBe(String(chosen.length));
          const expected = encode(format, chosen, region === "nowhere" ? null : region, category);
          expect(reply.text, `${box} ${region} ${category} ${format}`).toBe(expected);
        }
      }
    }
  });

  it("holds the page that offset and limit ask for, past the end too", async () => {
    for (const [offset, limit] of [
      [0, 1],
      [1, 63],
      [64, 64],
      [390, 100],
      [399, 1],
      [400, 1],
      [1_000_000, 20_000],
    ] as const) {
      for (const format of formatNames) {
        const reply = await ask(query({ format, offset, limit }));
        const chosen = places.slice(offset, offset + limit);
        expect(reply.text).toBe(encode(format, chosen));
        expect(reply.headers["ogc-numbermatched"]).toBe("400");
        expect(reply.headers["ogc-numberreturned"]).toBe(String(chosen.length));
      }
    }
  });

  it("has a strong ETag of its own, and one only", async () => {
    const etags = new Set<string>();
    for (const url of [
      query({ bbox: "-1,42,1,43" }),
      query({ bbox: "-1,42,1,43", format: "gpx" }),
      query({ bbox: "-1,42,1,43", type_lieu: 1 }),
      query({ bbox: "-1,42,1,43", region: "Aragon" }),
      query({ bbox: "-1,42,1,43", region: "null" }),
      query({ bbox: "-1,42,1,43", limit: 5 }),
      query({ bbox: "-1,42,1,43", limit: 5, offset: 1 }),
      query({ bbox: "-1,42,1,42.9" }),
    ]) {
      const [first, again] = [await ask(url), await ask(url)];
      expect(first.headers["etag"]).toMatch(/^"[^"]+"$/);
      expect(again.headers["etag"]).toBe(first.headers["etag"]);
      etags.add(String(first.headers["etag"]));
      expect((await ask(url, { "if-none-match": String(first.headers["etag"]) })).status).toBe(304);
    }
    expect(etags.size).toBe(8);
  });
});

describe("pages", () => {
  it("joined are the whole, in every format", async () => {
    for (const format of formatNames) {
      const { separator } = formats[format];
      const [head, tail] = splitEmpty(format);
      const bodies: string[] = [];
      for (let offset = 0; offset < 400; offset += 37) {
        const { text } = await ask(query({ format, offset, limit: 37 }));
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        bodies.push(text.slice(head.length, text.length - tail.length));
      }
      expect(bodies.join(separator)).toBe(places.map(formats[format].place).join(separator));
    }
  });

  function splitEmpty(format: FormatName): [string, string] {
    const empty = encode(format, []);
    const { epilogue } = formats[format];
    const tail = epilogue({
      ...about,
      generator: "",
      generation: "",
      extraKeys,
      region: null,
      category: null,
      bbox: null,
    });
    return [empty.slice(0, empty.length - tail.length), tail];
  }

  it("followed by their next links visit every place once, and by prev back to the first", async () => {
    const ids: number[] = [];
    let at: string | undefined = "/api.php?format=json&limit=23&type_lieu=all&cachebuster=%C3%A9%20x";
    let last = "";
    while (at !== undefined) {
      const reply = await ask(server.address + at);
      expect(reply.status).toBe(200);
      ids.push(...(JSON.parse(reply.text) as { id: number }[]).map(({ id }) => id));
      last = at;
      at = linksOf(reply).get("next");
      if (at !== undefined) expect(at).toContain("cachebuster");
    }
    expect(ids).toEqual(places.map(({ id }) => id));
    let steps = 0;
    for (let back: string | undefined = last; back !== undefined; steps++) {
      at = back;
      back = linksOf(await ask(server.address + back)).get("prev");
    }
    expect(new URL(at as string, server.address).searchParams.get("offset")).toBe("0");
    expect(steps).toBe(Math.ceil(400 / 23));
  });

  it("name the licence and the description of the service on every answer", async () => {
    for (const url of [query({}), query({ bbox: "0,42,1,43" }), query({ limit: 1 })]) {
      const links = linksOf(await ask(url));
      expect(links.get("license")).toBe(about.license);
      expect(links.get("service-desc")).toBe("/openapi.json");
    }
  });
});

it("a licence that looks like an address and is none is no link, and no fault of the release", async () => {
  const { database, site } = await buildRelease(records.slice(0, 3), lean);
  for (const license of ["https://[", "http://example.org/terms and more"]) {
    await pullRecords(database, records.slice(0, 3), { license });
    await rebuild(database, site, lean);
    const own = await serve(site);
    const answer = await ask(`${own.address}/api.php`);
    expect(answer.status).toBe(200);
    expect(linksOf(answer).get("license")).toBe("/terms.txt");
    await own.close();
  }
});

it("format wins over its alias, values are in any case, unknown parameters are ignored", async () => {
  const expected = await ask(query({ format: "gpx" }));
  for (const search of [
    "type_fichier=GPX",
    "format=GpX&type_fichier=csv",
    "_=123&format=gpx&__proto__=1&BBOX=x",
  ])
    expect((await ask(`${server.address}/api.php?${search}`)).body.equals(expected.body), search).toBe(true);
});

it("an unregistered region is an empty document of every format", async () => {
  for (const format of formatNames) {
    const reply = await ask(query({ format, region: "Nulle part" }));
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(encode(format, []));
    expect(reply.headers["ogc-numbermatched"]).toBe("0");
  }
});
