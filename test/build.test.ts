import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { formatNames } from "../src/formats/index.js";
import { readManifest, verifyRelease } from "../src/release/manifest.js";
import { runCli } from "./setup/cli.js";
import { contentsBelow, digestsBelow, filesBelow, temporaryFolder } from "./setup/folders.js";
import { madePlaces, oddRegions, shuffled } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, lean, pullRecords, rebuild, writeSource } from "./setup/release.js";

const places = madePlaces(300);
let release: BuiltRelease;

beforeAll(async () => {
  release = await buildRelease(places);
});

/** A copy of a release, to be spoiled. */
function copyOf(site: string): string {
  const copy = join(temporaryFolder(), "site");
  cpSync(site, copy, { recursive: true });
  return copy;
}

describe("a build over a release", () => {
  it("drops what the old release had for its host", async () => {
    const { database, site } = await buildRelease(places.slice(0, 20), {
      ...lean,
      host: "cloudflare",
      api: "https://gone.example/api.php",
    });
    const ofHost = () => filesBelow(site).filter((path) => /^(_|404|deploy|\.)/.test(path));
    expect(ofHost()).toEqual(["404.html", "_headers", "_redirects"]);
    await rebuild(database, site, { ...lean, host: "nginx" });
    expect(ofHost()).toEqual(["deploy/nginx.conf"]);
    await rebuild(database, site, lean);
    expect(ofHost()).toEqual([]);
  });

  it("keeps what the operator put into the folder, and drops what the old release had", async () => {
    const { database, site } = await buildRelease(places.slice(0, 20), lean);
    mkdirSync(join(site, ".well-known"));
    writeFileSync(join(site, ".well-known", "security.txt"), "Contact: mailto:nobody@example.org\n");
    writeFileSync(join(site, "robots.txt"), "User-agent: *\n");
    await pullRecords(database, [{ ...places[0], region: "Elsewhere" }]);
    await rebuild(database, site, lean);
    expect(readFileSync(join(site, ".well-known", "security.txt"), "utf8")).toContain("nobody");
    expect(readFileSync(join(site, "robots.txt"), "utf8")).toBe("User-agent: *\n");
    expect(readdirSync(join(site, "exports")).sort()).toEqual(["all", "elsewhere"]);
    expect((await verifyRelease(site)).faults).toEqual([]);
  });

  it("replaces one whose manifest is damaged", async () => {
    const { database, site } = await buildRelease(places.slice(0, 20), lean);
    writeFileSync(join(site, "manifest.json"), "{");
    await rebuild(database, site, lean);
    expect((await verifyRelease(site)).faults).toEqual([]);
  });
});

describe("the same data give the same release", () => {
  it("whatever the order of the input, the folder, the time zone, the locale and the umask", async () => {
    const folder = join(temporaryFolder(), "another place", "deep");
    mkdirSync(folder, { recursive: true });
    const from = writeSource(folder, shuffled(places, 7));
    const database = join(folder, "p.sqlite");
    const site = join(folder, "out");
    const strange = {
      env: { TZ: "Pacific/Apia", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
      through: ["sh", "-c", 'umask 077; exec "$@"', "sh"],
    };
    const said = ["--title", "Made-up shelters", "--attribution", "Nobody & sons"];
    const dated = ["--license", "https://example.org/terms", "--date", "2026-01-02T04:04:05+01:00"];
    const pulled = await runCli(["pull", "--from", from, "--database", database, ...said, ...dated], strange);
    expect(pulled.code, pulled.stderr).toBe(0);
    const built = await runCli(["build", "--database", database, "--site", site], strange);
    expect(built.code, built.stderr).toBe(0);

    expect(digestsBelow(site)).toEqual(digestsBelow(release.site));
  });
});

describe("the manifest", () => {
  it("lists every file of the release but itself, and every one verifies", async () => {
    const { manifest, faults, files } = await verifyRelease(release.site);
    expect(faults).toEqual([]);
    const listed = manifest.files.flatMap(({ path, codings }) => [
      path,
      ...(codings.gzip === undefined ? [] : [`${path}.gz`]),
      ...(codings.br === undefined ? [] : [`${path}.br`]),
    ]);
    expect(files).toBe(listed.length);
    expect([...listed, "manifest.json", "manifest.json.gz", "manifest.json.br"].sort()).toEqual(
      filesBelow(release.site),
    );
  });

  it("counts the places of every region and category, and draws the smallest box around them", () => {
    const { manifest } = release;
    expect(manifest.count).toBe(places.length);
    const lons = places.map((place) => place["longitude"] as number);
    const lats = places.map((place) => place["latitude"] as number);
    expect(manifest.bbox).toEqual({
      west: Math.min(...lons),
      south: Math.min(...lats),
      east: Math.max(...lons),
      north: Math.max(...lats),
    });
    const count = (region: string | null, category: number): number =>
      places.filter(
        (place) => place["type_lieu"] === category && (region ?? place["region"]) === place["region"],
      ).length;
    for (const category of [1, 2, 3, 4, 5, 6, 7])
      expect(manifest.categories[category]).toBe(count(null, category));
    for (const region of manifest.regions) {
      expect(region.count).toBe(places.filter((place) => place["region"] === region.name).length);
      for (const category of [1, 2, 3, 4, 5, 6, 7])
        expect(region.categories[category]).toBe(count(region.name, category));
    }
    for (const file of manifest.files.filter(({ path }) => /^exports.*\.geojson$/.test(path))) {
      const { features } = JSON.parse(readFileSync(join(release.site, file.path), "utf8")) as {
        features: unknown[];
      };
      expect(features.length, file.path).toBe(file.places);
    }
  });

  it("gives every region a path of its own, however odd its name", () => {
    const { regions } = release.manifest;
    expect(regions.map(({ name }) => name)).toEqual([...oddRegions].sort());
    const slugs = regions.map(({ slug }) => slug);
    expect(new Set(slugs).size).toBe(slugs.length);
    expect(slugs).not.toContain("all");
    for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(readdirSync(join(release.site, "exports")).sort()).toEqual(["all", ...slugs].sort());
  });

  it("is met by compressed forms that hold the bytes of their file", () => {
    for (const [path, bytes] of contentsBelow(release.site)) {
      if (path.endsWith(".gz"))
        expect(gunzipSync(bytes).equals(readFileSync(join(release.site, path.slice(0, -3)))), path).toBe(
          true,
        );
      if (path.endsWith(".br"))
        expect(
          brotliDecompressSync(bytes).equals(readFileSync(join(release.site, path.slice(0, -3)))),
          path,
        ).toBe(true);
    }
  });
});

describe("verify finds", () => {
  const spoil = async (change: (path: string) => void, file: string): Promise<string> => {
    const site = copyOf(release.site);
    change(join(site, file));
    const { code, stderr, stdout } = await runCli(["--json", "verify", "--site", site]);
    expect(code).toBe(5);
    expect((JSON.parse(stdout) as { faults: string[] }).faults).toHaveLength(1);
    return stderr;
  };

  it("a flipped bit", async () => {
    const flip = (path: string): void => {
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
      writeFileSync(path, bytes);
    };
    expect(await spoil(flip, "exports/all/all.gpx")).toContain("all.gpx: its content differs");
    expect(await spoil(flip, "index.sqlite")).toContain("index.sqlite: its content differs");
  });

  it("a missing file", async () => {
    expect(await spoil((path) => rmSync(path), "exports/all/2.csv.br")).toContain("2.csv.br: missing");
  });

  it("a file that is cut short", async () => {
    expect(await spoil((path) => truncateSync(path, 10), "openapi.json")).toContain("openapi.json: 10 bytes");
  });

  it("a manifest that is none", async () => {
    for (const text of ["", "{", "null", "[]", '{"generation":1}']) {
      const site = temporaryFolder();
      writeFileSync(join(site, "manifest.json"), text);
      const { code, stderr } = await runCli(["verify", "--site", site]);
      expect(code, stderr).toBe(5);
      expect(stderr).not.toContain("bug");
    }
  });

  it("a manifest that points outside the release", async () => {
    const site = copyOf(release.site);
    const path = join(site, "manifest.json");
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace('"path":"openapi.json"', '"path":"../openapi.json"'),
    );
    expect((await runCli(["verify", "--site", site])).code).toBe(5);
  });
});

describe("a release without places", () => {
  it("is a release: every export is a valid empty document, and it verifies", async () => {
    const folder = temporaryFolder();
    const from = join(folder, "none.geojson");
    writeFileSync(from, '{"type":"FeatureCollection","features":[]}');
    const database = join(folder, "p.sqlite");
    const site = join(folder, "site");
    expect((await runCli(["pull", "--from", from, "--database", database])).code).toBe(4);
    expect((await runCli(["pull", "--force", "--from", from, "--database", database])).code).toBe(0);
    expect((await runCli(["build", "--database", database, "--site", site])).code).toBe(0);
    expect((await runCli(["verify", "--site", site])).code).toBe(0);
    const { manifest } = readManifest(site);
    expect({ count: manifest.count, bbox: manifest.bbox, regions: manifest.regions }).toEqual({
      count: 0,
      bbox: null,
      regions: [],
    });
    const text = (format: string): string => readFileSync(join(site, `exports/all/all.${format}`), "utf8");
    expect(JSON.parse(text("geojson"))).toMatchObject({ type: "FeatureCollection", features: [] });
    expect(JSON.parse(text("json"))).toEqual([]);
    expect(text("csv").split("\r\n")).toHaveLength(2);
    expect(text("gpx")).toMatch(/^<\?xml[\s\S]*<\/gpx>\n$/);
    expect(text("kml")).toMatch(/^<\?xml[\s\S]*<\/kml>\n$/);
    expect(formatNames).toHaveLength(5);
  });
});

describe("build refuses", () => {
  it("to replace a folder that is no release", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "precious.txt"), "mine");
    const { code, stderr } = await runCli(["build", "--database", release.database, "--site", folder]);
    expect(code).toBe(2);
    expect(stderr).toContain("other things in it");
    expect(filesBelow(folder)).toEqual(["precious.txt"]);
  });

  it("a database that is missing, empty, foreign, damaged or newer, and leaves the release alone", async () => {
    const site = copyOf(release.site);
    const database = join(temporaryFolder(), "places.sqlite");
    copyFileSync(release.database, database);
    const before = digestsBelow(site);
    const fresh = readFileSync(database);
    const spoiled: Record<string, (bytes: Buffer) => Buffer> = {
      empty: () => Buffer.alloc(0),
      "no database": () => Buffer.from("<html>not found</html>".repeat(300)),
      "cut short": (bytes) => bytes.subarray(0, bytes.length / 2),
      // Application id and user version in the header of an SQLite file.
      foreign: (bytes) => Buffer.concat([bytes.subarray(0, 68), Buffer.from("none"), bytes.subarray(72)]),
      newer: (bytes) =>
        Buffer.concat([bytes.subarray(0, 60), Buffer.from([0, 0, 0, 99]), bytes.subarray(64)]),
    };
    for (const [what, spoil] of Object.entries(spoiled)) {
      writeFileSync(database, spoil(Buffer.from(fresh)));
      const { code, stderr } = await runCli(["build", "--database", database, "--site", site]);
      expect(code, `${what}: ${stderr}`).toBe(5);
      expect(readdirSync(dirname(site)).filter((name) => /next|previous|making/.test(name))).toEqual([]);
    }
    rmSync(database);
    expect((await runCli(["build", "--database", database, "--site", site])).code).toBe(5);
    expect(digestsBelow(site)).toEqual(before);
  });
});

it("a build takes the place of the old one and leaves nothing beside it", async () => {
  const { database, site, manifest } = release;
  await pullRecords(database, places.slice(1));
  const report = await rebuild(database, site);
  expect(report.places).toBe(299);
  expect(report.generation).not.toBe(manifest.generation);
  expect(readManifest(site).manifest.generation).toBe(report.generation);
  expect(readdirSync(dirname(site)).sort()).toEqual([".site.lock", "site"]);
});
