import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hostFiles, hostNames, type PlannedFile } from "../src/hosts/hosts.js";
import { headeredFiles, rulesFor } from "../src/hosts/rules.js";
import { formsOf, readManifest, verifyRelease } from "../src/release/manifest.js";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease } from "./setup/release.js";
import { serve } from "./setup/serve.js";

let release: BuiltRelease;

beforeAll(async () => {
  // Without regions there are few files, and many builds are quick.
  release = await buildRelease(madePlaces(60).map((place) => ({ ...place, region: "" })));
});

/** How hosts read a pattern; Netlify leaves the dot beside a star as it is: any character. */
const matchers = {
  cloudflare: (pattern: string) =>
    new RegExp(`^${pattern.replace(/[.]/g, "\\.").replace(/\*/g, ".*").replace(/:\w+/g, "[^/]+")}$`),
  netlify: (pattern: string) =>
    new RegExp(
      `^${(pattern.includes("*") ? pattern : pattern.replace(/[.]/g, "\\.")).replace(/\*/g, ".*").replace(/:\w+/g, "[^/]+")}$`,
    ),
} as const;

function file(path: string, mediaType = "application/x-protobuf", bytes = 10): PlannedFile {
  const form = { bytes, sha256: "0".repeat(64) };
  return { path, mediaType, bytes, codings: { gzip: form, br: form } };
}

describe("header rules", () => {
  it.each(["cloudflare", "netlify"] as const)("match every file of the release once, for %s", (host) => {
    const real = release.manifest.files.filter(({ hostOnly }) => !hostOnly);
    const pbf = real.find(({ path }) => path.endsWith(".pbf"))?.mediaType;
    const made = [
      ...Array.from({ length: 2200 }, (_, index) =>
        file(`tiles/18/${index % 47}/${Math.floor(index / 47)}.pbf`, pbf),
      ),
      file("exports/andorre/all.json", "application/json"),
      file("exports/andorre/all.geojson", "application/geo+json"),
      file("places.pmtiles", "application/vnd.pmtiles"),
      file("tiles.json", "application/json"),
      file("page/app.js", "text/javascript; charset=utf-8"),
    ].filter(({ path }) => !real.some((one) => one.path === path));
    const files = headeredFiles([...real, ...made]);
    const rules = rulesFor(files);
    expect(rules.length).toBeLessThan(80); // Cloudflare takes 100
    const compiled = rules.map(({ pattern, headers }) => ({ regex: matchers[host](pattern), headers }));
    for (const { path, headers } of files) {
      const hits = compiled.filter(({ regex }) => regex.test(`/${path}`));
      expect(
        hits.map((hit) => hit.headers),
        path,
      ).toEqual([headers]);
    }
  });

  it("give files of one extension their own rules where their media types differ", () => {
    const rules = rulesFor(headeredFiles([file("a/x.bin", "image/png"), file("b/x.bin", "image/webp")]));
    const bins = rules.filter(({ pattern }) => pattern.endsWith(".bin"));
    expect(bins.map(({ pattern, headers }) => [pattern, headers["Content-Type"]])).toEqual([
      ["/a/x.bin", "image/png"],
      ["/b/x.bin", "image/webp"],
    ]);
  });

  it("say of the manifest that it is asked for again, of the page what it may load", () => {
    const rules = new Map(
      rulesFor(headeredFiles(release.manifest.files)).map(({ pattern, headers }) => [pattern, headers]),
    );
    expect(rules.get("/manifest.json")?.["Cache-Control"]).toBe("no-cache");
    expect(rules.get("/")?.["Content-Security-Policy"]).toMatch(/default-src/);
    expect(rules.get("/*.gz")?.["Content-Type"]).toBe("application/gzip");
  });
});

describe("limits of a host", () => {
  it("of Cloudflare are named with the file that breaks them", () => {
    const large = file("exports/all/all.geojson", "application/geo+json", 26 * 1024 * 1024);
    expect(() => hostFiles("cloudflare", [large], null)).toThrowError(/Cloudflare Pages would not take/);
    const problem = catchError(() => hostFiles("cloudflare", [large], null));
    expect(problem.details[0]).toBe("exports/all/all.geojson has 26.0 MiB; it takes 25.0 MiB in one file.");
    const many = Array.from({ length: 7000 }, (_, index) => file(`tiles/1/${index}/1.pbf`));
    expect(catchError(() => hostFiles("cloudflare", many, null)).details).toEqual([
      "21005 files; it takes 20000.",
    ]);
    const odd = Array.from({ length: 101 }, (_, index) => file(`f${index}.x${index}`, `image/x${index}`));
    expect(catchError(() => hostFiles("cloudflare", odd, null)).details[0]).toMatch(
      /header rules; it takes 100/,
    );
  });

  it("are none of other hosts' business", () => {
    const large = file("exports/all/all.geojson", "application/geo+json", 26 * 1024 * 1024);
    for (const host of hostNames.filter((name) => name !== "cloudflare"))
      expect(() => hostFiles(host, [large], null)).not.toThrow();
  });

  it("let only hosts that can do so hand api.php on", () => {
    const api = "https://api.example.org/api.php";
    const redirect = hostFiles("netlify", [], api).find(({ path }) => path === "_redirects");
    expect(redirect?.text).toBe(`/api.php ${api} 200\n`);
    expect(hostFiles("nginx", [], api)[0]?.text).toContain(`proxy_pass ${api};`);
    expect(() => hostFiles("github", [], api)).toThrowError(/cannot hand \/api.php on/);
  });
});

describe("shelters build --host", () => {
  it.each(["cloudflare", "github", "nginx"] as const)(
    "%s makes a release that verifies and is served",
    async (host) => {
      const site = join(temporaryFolder(), "site");
      const run = await runCli([
        "build",
        "--quiet",
        "--database",
        release.database,
        "--site",
        site,
        "--host",
        host,
      ]);
      expect(run.stderr).toBe("");
      const { faults } = await verifyRelease(site);
      expect(faults).toEqual([]);
      const { manifest } = readManifest(site);
      for (const path of ["_headers", ".nojekyll", "deploy/nginx.conf"].filter((path) =>
        existsSync(join(site, path)),
      ))
        expect(manifest.files.map((one) => one.path)).toContain(path);
      const server = await serve(site);
      for (const { path } of [...formsOf(manifest)].slice(-5))
        expect((await ask(`${server.address}/${path}`)).status).toBe(200);
    },
  );

  it("makes a release that can be mirrored from a host that keeps its files to itself", async () => {
    const folder = temporaryFolder();
    const site = join(folder, "site");
    await runCli([
      "build",
      "--quiet",
      "--database",
      release.database,
      "--site",
      site,
      "--host",
      "cloudflare",
    ]);
    for (const path of ["_headers", "404.html"]) rmSync(join(site, path));
    const { address } = await serve(site);
    const copy = join(folder, "copy");
    const run = await runCli(["mirror", address, "--site", copy]);
    expect(run.code, run.stderr).toBe(0);
    expect((await verifyRelease(copy)).faults).toEqual([]);
  });

  it("refuses an address that could end a line of a host's file", async () => {
    const run = await runCli(["build", "--host", "nginx", "--api", "http://x/y;}\n"]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/An address such as/);
  });

  it("finds a change in a host's file, and takes its absence for a copy over HTTP", async () => {
    const site = join(temporaryFolder(), "site");
    await runCli([
      "build",
      "--quiet",
      "--database",
      release.database,
      "--site",
      site,
      "--host",
      "cloudflare",
    ]);
    const before = readFileSync(join(site, "_headers"), "utf8");
    writeFileSync(join(site, "_headers"), before.replace("no-cache", "no-cachf"));
    expect((await verifyRelease(site)).faults).toEqual(["_headers: its content differs from the manifest"]);
    rmSync(join(site, "_headers"));
    expect((await verifyRelease(site)).faults).toEqual([]);
  });
});

function catchError(run: () => unknown): { readonly details: readonly string[] } {
  try {
    run();
  } catch (error) {
    return error as { readonly details: readonly string[] };
  }
  throw new Error("it did not throw");
}
