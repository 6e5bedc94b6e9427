import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PutBucketCorsCommand, S3Client } from "@aws-sdk/client-s3";
import { beforeAll, describe, expect, it } from "vitest";
import { type HostName, hostFiles, hostNames, type PlannedFile } from "../src/hosts/hosts.js";
import {
  formsOf,
  type Manifest,
  type ManifestFile,
  readManifest,
  verifyRelease,
} from "../src/release/manifest.js";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { readHeadersFile } from "./setup/headersfile.js";
import { ask } from "./setup/http.js";
import { intendedHeaders } from "./setup/intended.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, rebuild } from "./setup/release.js";
import { BUCKET, startS3 } from "./setup/s3.js";
import { serve } from "./setup/serve.js";

let release: BuiltRelease;

beforeAll(async () => {
  // Without regions there are few files.
  release = await buildRelease(madePlaces(60).map((place) => ({ ...place, region: "" })));
});

function file(path: string, mediaType = "application/x-protobuf", bytes = 10): ManifestFile {
  const form = { bytes: Math.ceil(bytes / 10), sha256: "0".repeat(64) };
  return { path, mediaType, ...form, bytes, codings: { gzip: form, br: form } };
}

describe("_headers", () => {
  const textFor = (host: HostName, files: readonly PlannedFile[]): string =>
    hostFiles(host, files, null).find(({ path }) => path === "_headers")?.text ?? "";

  /** What a large selection has besides: other regions, deep tiles, archives. */
  const more = (there: Manifest): ManifestFile[] => {
    const pbf = there.files.find(({ path }) => path.endsWith(".pbf"))?.mediaType;
    return [
      ...Array.from({ length: 2200 }, (_, index) =>
        file(`tiles/18/${index % 47}/${Math.floor(index / 47)}.pbf`, pbf),
      ),
      ...there.files
        .filter(({ path }) => path.startsWith("exports/all/"))
        .map((one) => ({ ...one, path: one.path.replace("/all/", "/andorre/") })),
      file("places.pmtiles", "application/vnd.pmtiles"),
      file("basemap.pmtiles", "application/vnd.pmtiles"),
    ].filter(({ path }) => !there.files.some((one) => one.path === path));
  };

  it.each(["cloudflare", "netlify"] as const)("gives every path just what is intended, on %s", (host) => {
    const files = [...release.manifest.files, ...more(release.manifest)];
    const read = readHeadersFile(textFor(host, files), host);
    expect(read.faults).toEqual([]);
    const intended = intendedHeaders({ ...release.manifest, files });
    expect(intended.size).toBeGreaterThan(6000);
    for (const [path, headers] of intended) expect(read.headersFor(path), path).toEqual(headers);
    expect(read.headersFor("/exports/no-such-region/all.xyz")).toEqual({});
  });

  it("gives files of one extension their own rules where their media types differ", () => {
    const text = textFor("cloudflare", [file("a/x.bin", "image/png"), file("b/x.bin", "image/webp")]);
    const read = readHeadersFile(text, "cloudflare");
    expect(read.headersFor("/a/x.bin")["content-type"]).toBe("image/png");
    expect(read.headersFor("/b/x.bin")["content-type"]).toBe("image/webp");
  });

  it("is read by the rules of the hosts: what they would pass over, cut off or replace is a fault", () => {
    const read = (text: string) => readHeadersFile(text, "cloudflare").faults;
    expect(read(`/a\n  X: ${"y".repeat(2000)}\n`)[0]).toMatch(/too long/);
    expect(read("  X: y\n")[0]).toMatch(/no header/);
    expect(read("/a/*/b*\n  X: y\n")).toEqual(["two splats: /a/*/b*"]);
    expect(read("/a\n  X: img:src\n")[0]).toMatch(/placeholder/);
    expect(read(Array.from({ length: 101 }, (_, index) => `/${index}\n  X: y\n`).join(""))).toEqual([
      "101 rules",
    ]);
    expect(readHeadersFile("/a\n  Content-Encoding: gzip\n", "netlify").faults[0]).toMatch(/set by the host/);
    const both = "/*.json\n  X: 1\n/a.json\n  X: 2\n";
    expect(readHeadersFile(both, "cloudflare").headersFor("/a.json")).toEqual({ x: "1, 2" });
    expect(readHeadersFile(both, "netlify").headersFor("/geojson")).toEqual({ x: "1" });
  });
});

describe("limits of a host", () => {
  const faultsOf = (host: HostName, files: readonly PlannedFile[]): readonly string[] => {
    try {
      hostFiles(host, files, null);
    } catch (error) {
      return (error as { readonly details: readonly string[] }).details;
    }
    return [];
  };
  const large = file("exports/all/all.geojson", "application/geo+json", 26 * 1024 * 1024);

  it("of Cloudflare are named with the file that breaks them", () => {
    expect(() => hostFiles("cloudflare", [large], null)).toThrowError(/Cloudflare would not take/);
    expect(faultsOf("cloudflare", [large])).toEqual([
      "exports/all/all.geojson has 26.0 MiB; it takes 25.0 MiB in one file.",
    ]);
    const many = Array.from({ length: 7000 }, (_, index) => file(`tiles/1/${index}/1.pbf`));
    expect(faultsOf("cloudflare", many)).toEqual(["21005 files; it takes 20000."]);
    const odd = Array.from({ length: 101 }, (_, index) => file(`f${index}.x${index}`, `image/x${index}`));
    expect(faultsOf("cloudflare", odd)[0]).toMatch(/header rules; it takes 100/);
    const long = file("a.odd", `image/x; note="${"y".repeat(2000)}"`);
    expect(faultsOf("cloudflare", [long])).toEqual([
      "The header Content-Type of /*.odd is longer than 2000 characters.",
    ]);
  });

  it("of GitHub are those of one file and of all together", () => {
    expect(faultsOf("github", [file("a.bin", "image/x", 101 * 1024 * 1024)])[0]).toMatch(
      /takes 100\.0 MiB in one/,
    );
    const eleven = Array.from({ length: 11 }, (_, index) =>
      file(`${index}.bin`, "image/x", 99 * 1024 * 1024),
    );
    expect(faultsOf("github", eleven)).toEqual(["1306.8 MiB in all; it takes 1024.0 MiB."]);
  });

  it("are none of other hosts' business", () => {
    for (const host of hostNames.filter((name) => name !== "cloudflare"))
      expect(faultsOf(host, [large])).toEqual([]);
  });

  it("let only hosts that can do so hand api.php on", () => {
    const api = "https://api.example.org/api.php";
    const redirect = (host: HostName) =>
      hostFiles(host, [], api).find(({ path }) => path === "_redirects")?.text;
    expect(redirect("netlify")).toBe(`/api.php ${api} 200\n`); // it asks there by itself
    expect(redirect("cloudflare")).toBe(`/api.php ${api} 302\n`); // it asks no other host
    expect(hostFiles("nginx", [], api)[0]?.text).toContain(`proxy_pass ${api};`);
    expect(() => hostFiles("github", [], api)).toThrowError(/cannot hand \/api.php on/);
  });
});

describe("deploy/s3-cors.json", () => {
  it("is what a store takes, and lets any page read", async () => {
    const text = hostFiles("s3", [], null).find(({ path }) => path === "deploy/s3-cors.json")?.text ?? "";
    const s3 = await startS3();
    Object.assign(process.env, s3.env);
    const client = new S3Client({ endpoint: s3.endpoint, forcePathStyle: true, region: "us-east-1" });
    await client.send(new PutBucketCorsCommand({ Bucket: BUCKET, CORSConfiguration: JSON.parse(text) }));
    const reply = await ask(`${s3.endpoint}/${BUCKET}/x`, { Origin: "https://map.example.org" });
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
    expect(reply.headers["access-control-expose-headers"]).toMatch(/etag/i);
    client.destroy();
  });
});

/** `shelters build --host`; gives the release. */
async function buildFor(host: HostName): Promise<string> {
  const site = join(temporaryFolder(), "site");
  const args = ["build", "--quiet", "--database", release.database, "--site", site, "--no-brotli"];
  const run = await runCli([...args, "--host", host]);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  return site;
}

describe("shelters build --host", () => {
  it.each(["github", "nginx"] as const)("%s makes a release that verifies and is served", async (host) => {
    const site = await buildFor(host);
    expect((await verifyRelease(site)).faults).toEqual([]);
    const { manifest } = readManifest(site);
    for (const path of [".nojekyll", "deploy/nginx.conf"].filter((path) => existsSync(join(site, path))))
      expect(manifest.files.map((one) => one.path)).toContain(path);
    const server = await serve(site);
    for (const { path } of [...formsOf(manifest)].slice(-5))
      expect((await ask(`${server.address}/${path}`)).status).toBe(200);
  });

  it("writes what a host keeps to itself: a copy over HTTP lacks it and is whole, a change is found", async () => {
    const site = await buildFor("cloudflare");
    const before = readFileSync(join(site, "_headers"), "utf8");
    expect(readHeadersFile(before, "cloudflare").faults).toEqual([]);
    writeFileSync(join(site, "_headers"), before.replace("no-cache", "no-cachf"));
    expect((await verifyRelease(site)).faults).toEqual(["_headers: its content differs from the manifest"]);
    for (const path of ["_headers", "404.html"]) rmSync(join(site, path));
    expect((await verifyRelease(site)).faults).toEqual([]);
    const { address } = await serve(site);
    const copy = join(temporaryFolder(), "copy");
    const run = await runCli(["mirror", address, "--site", copy]);
    expect(run.code, run.stderr).toBe(0);
    expect((await verifyRelease(copy)).faults).toEqual([]);
  });

  it("refuses an address that could end a line of a host's file", async () => {
    const run = await runCli(["build", "--host", "nginx", "--api", "http://x/y;}\n"]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/An address such as/);
  });

  it("writes nothing for no host, and the same release", async () => {
    const site = join(temporaryFolder(), "site");
    await rebuild(release.database, site, { host: "none" });
    expect(readFileSync(join(site, "manifest.json"))).toEqual(
      readFileSync(join(release.site, "manifest.json")),
    );
  });
});
