import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createKeys, signRelease } from "../src/mirror/sign.js";
import { formatManifest, formsOf, readManifest, verifyRelease } from "../src/release/manifest.js";
import { runCli } from "./setup/cli.js";
import { contentsBelow, digestsBelow, filesBelow, temporaryFolder } from "./setup/folders.js";
import { buildSmall, changed, fewFiles, mirrorInto, rebuildSmall, untilServed } from "./setup/mirror.js";
import { openProxy } from "./setup/proxy.js";
import { pullRecords } from "./setup/release.js";
import { serve } from "./setup/serve.js";
import { startPython } from "./setup/webservers.js";

const places = fewFiles(60);
const upstream = await buildSmall(places);
const server = await serve(upstream.site);

/** An upstream of its own, for tests that change it. */
async function ownUpstream() {
  const folder = temporaryFolder();
  const site = join(folder, "site");
  const database = join(folder, "places.sqlite");
  cpSync(upstream.site, site, { recursive: true });
  copyFileSync(upstream.database, database);
  const proxy = await openProxy((await serve(site)).address);
  return { site, database, proxy, copy: join(temporaryFolder(), "copy") };
}

describe("a mirror", () => {
  it.each(["never", "always"] as const)(
    "of a server is the same files, byte by byte (rebuild %s)",
    async (rebuild) => {
      const copy = join(temporaryFolder(), "site");
      const report = await mirrorInto(copy, server.address, { rebuild });
      expect(report).toMatchObject({ outcome: "mirrored", generation: upstream.manifest.generation });
      expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
      expect((await verifyRelease(copy)).faults).toEqual([]);
    },
  );

  it("of a folder is the same files, and serves like the original", async () => {
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, upstream.site);
    expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
    const served = await serve(copy);
    const [ours, theirs] = await Promise.all(
      [served, server].map(({ address }) => fetch(`${address}/api.php?bbox=-1,42,2,43`)),
    );
    expect(await ours?.text()).toBe(await theirs?.text());
  });

  it("can be mirrored again", async () => {
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, upstream.site);
    const second = join(temporaryFolder(), "site");
    await mirrorInto(second, (await serve(copy)).address);
    expect(digestsBelow(second)).toEqual(digestsBelow(upstream.site));
  });

  it("says before what it will fetch", async () => {
    const { lines } = await mirrorInto(join(temporaryFolder(), "site"), server.address, { maxRate: 2e6 });
    expect(lines[0]).toMatch(
      /^To fetch: \d+ files, [\d.]+ [kM]B of [\d.]+ [kM]B, about \d+ s at 2\.0 MB\/s\.$/,
    );
  });

  it("fetches from compressed forms at most what they weigh, and each content once", async () => {
    const { proxy, copy } = await ownUpstream();
    const { fetchedBytes } = await mirrorInto(copy, proxy.address);
    const forms = new Map([...formsOf(upstream.manifest)].map(({ sha256, bytes }) => [sha256, bytes]));
    const brotli = new Map(
      upstream.manifest.files.map((file) => [file.sha256, file.codings.br?.bytes ?? file.bytes]),
    );
    const sum = (sizes: Iterable<number>): number => [...sizes].reduce((total, bytes) => total + bytes, 0);
    expect(fetchedBytes).toBeLessThan(sum(brotli.values()) + 700 * (forms.size + 2) + 20_000);
    expect(proxy.bytes()).toBeLessThan(sum(forms.values()));
  });

  it("costs one request of less than 1 kB when nothing changed", async () => {
    const { proxy, copy } = await ownUpstream();
    await mirrorInto(copy, proxy.address);
    proxy.reset();
    expect((await mirrorInto(copy, proxy.address)).outcome).toBe("unchanged");
    expect(proxy.connections()).toBe(1);
    expect(proxy.bytes()).toBeGreaterThan(100);
    expect(proxy.bytes()).toBeLessThan(1000);
  });

  it("sees a new release of a source that left a compressed manifest of the old one behind", async () => {
    const { site, proxy, copy } = await ownUpstream();
    await mirrorInto(copy, proxy.address);
    const { manifest } = readManifest(site);
    const text = formatManifest({ ...manifest, title: "Another title", date: "2026-03-01T00:00:00Z" });
    writeFileSync(join(site, "manifest.json"), text);
    const plainHost = await startPython(site);
    expect((await mirrorInto(copy, plainHost)).date).toBe("2026-03-01T00:00:00Z");
    rmSync(join(site, "manifest.json.br"));
    rmSync(join(site, "manifest.json.gz"));
    expect((await mirrorInto(copy, plainHost)).outcome).toBe("unchanged");
    expect(readFileSync(join(copy, "manifest.json"), "utf8")).toBe(text);
  });

  it.each(["never", "always"] as const)(
    "fetches only what changed, and is then the same as a fresh copy (rebuild %s)",
    async (mode) => {
      const { database, site, proxy, copy } = await ownUpstream();
      await mirrorInto(copy, proxy.address, { rebuild: mode });
      const all = proxy.bytes();
      await pullRecords(database, changed(places, 60, "new"));
      await rebuildSmall(database, site);
      await untilServed(proxy.address, site);
      proxy.reset();
      const report = await mirrorInto(copy, proxy.address, { rebuild: mode });
      expect(report.outcome).toBe("mirrored");
      expect(digestsBelow(copy)).toEqual(digestsBelow(site));
      if (mode === "never") expect(proxy.bytes()).toBeLessThan(all);
    },
  );

  it("mends a copy of which any kind of file was damaged, and fetches only that", async () => {
    const { proxy, copy } = await ownUpstream();
    await mirrorInto(copy, proxy.address);
    const whole = digestsBelow(copy);
    const paths = ["exports/all/6.gpx.br", "exports/all/all.geojson", "index.html.gz", "index.sqlite"];
    for (const path of paths) flipBit(join(copy, path));
    expect((await verifyRelease(copy)).faults.map((fault) => fault.split(":", 1)[0]).sort()).toEqual(paths);
    const { outcome, changed: files } = await mirrorInto(copy, proxy.address);
    expect({ outcome, files }).toEqual({ outcome: "mirrored", files: paths.length });
    expect(digestsBelow(copy)).toEqual(whole);
  });

  it("leaves nothing beside the copy but its hidden notes", async () => {
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, server.address);
    expect(readdirSync(dirname(copy)).sort()).toEqual([
      ".site.fetching",
      ".site.lock",
      ".site.mirroring",
      "site",
    ]);
    expect(readdirSync(join(dirname(copy), ".site.fetching")).sort()).toEqual(["manifest", "state.json"]);
  });
});

/** One bit of a file, in the middle unless told. */
function flipBit(path: string, place?: number): void {
  const bytes = readFileSync(path);
  const at = place ?? Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  rmSync(path); // not through a hard link
  writeFileSync(path, bytes);
}

describe("a flipped bit", () => {
  const kinds = new Map(
    filesBelow(upstream.site).map((path) => [path.replace(/^(.*\/)?(?!manifest)[^.]*/, ""), path]),
  );
  const copy = join(temporaryFolder(), "site");
  cpSync(upstream.site, copy, { recursive: true });
  const keys = createKeys(join(temporaryFolder(), "shelters.key"));
  signRelease(copy, keys.privateKey);

  it("in any kind of file is found by verify", async () => {
    for (const kind of [
      ".sqlite",
      ".gpkg",
      ".deflate",
      ".pbf",
      ".pmtiles",
      ".html.br",
      ".geojson.gz",
      ".kmz",
      "manifest.json.gz",
    ])
      expect([...kinds.keys()]).toContain(kind);
    const paths = [...kinds.values()].filter((path) => path !== "manifest.json");
    for (const path of paths) flipBit(join(copy, path));
    expect((await verifyRelease(copy)).faults.map((fault) => fault.split(":", 1)[0]).sort()).toEqual(
      paths.sort(),
    );
    for (const path of paths) copyFileSync(join(upstream.site, path), join(copy, path));
    expect((await verifyRelease(copy)).faults).toEqual([]);
  });

  it("in any place of the manifest is found: it says otherwise than its compressed forms, or nothing that can be read", async () => {
    const path = join(copy, "manifest.json");
    const sound = readFileSync(path);
    for (const at of [0, 30, 100, 300, sound.length >> 1, sound.length - 3]) {
      flipBit(path, at);
      const found = await verifyRelease(copy).then(
        ({ faults }) => faults.length,
        (error: { readonly code: string }) => error.code,
      );
      expect(found === "damaged" || Number(found) > 0, `a bit of byte ${at}`).toBe(true);
      writeFileSync(path, sound);
    }
  });

  it("in the signature is found when the key is given, and the copy is mended by the next run", async () => {
    const args = ["verify", "--site", copy, "--public-key", keys.publicKey];
    expect((await runCli(args)).code).toBe(0);
    const second = join(temporaryFolder(), "site");
    await mirrorInto(second, copy, keys);
    flipBit(join(second, "manifest.json.sig"));
    const { code, stderr } = await runCli(["verify", "--site", second, "--public-key", keys.publicKey]);
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("manifest.json.sig") });
    flipBit(join(second, "manifest.json.br"));
    expect((await mirrorInto(second, copy, keys)).outcome).toBe("mirrored");
    expect(digestsBelow(second)).toEqual(digestsBelow(copy));
    expect((await mirrorInto(second, copy, keys)).outcome).toBe("unchanged");
  });
});

describe("a source that cannot be trusted", () => {
  const copyOf = (): string => {
    const folder = join(temporaryFolder(), "site");
    cpSync(upstream.site, folder, { recursive: true });
    return folder;
  };

  it("with older data is refused; --force takes it", async () => {
    const older = copyOf();
    const { manifest } = readManifest(older);
    writeFileSync(
      join(older, "manifest.json"),
      formatManifest({ ...manifest, date: "2025-01-01T00:00:00Z" }),
    );
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, upstream.site);
    const before = digestsBelow(copy);
    await expect(mirrorInto(copy, older)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("--force"),
    });
    expect(digestsBelow(copy)).toEqual(before);
    expect((await mirrorInto(copy, older, { force: true })).date).toBe("2025-01-01T00:00:00Z");
  });

  it("of which a file is damaged is refused, and the copy stays", async () => {
    const damaged = copyOf();
    flipBit(join(damaged, "exports/all/all.gpx"));
    flipBit(join(damaged, "exports/all/all.gpx.br"));
    flipBit(join(damaged, "exports/all/all.gpx.gz"));
    const copy = join(temporaryFolder(), "site");
    await expect(mirrorInto(copy, damaged)).rejects.toMatchObject({
      code: "source",
      message: expect.stringContaining("exports/all/all.gpx"),
    });
    expect(existsSync(copy)).toBe(false);
  });

  it("of which only some forms are damaged or missing is copied all the same", async () => {
    const damaged = copyOf();
    flipBit(join(damaged, "exports/all/all.gpx.br"));
    rmSync(join(damaged, "exports/all/all.kml.br"));
    rmSync(join(damaged, "exports/all/all.kml.gz"));
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, damaged);
    expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
  });

  it.each([
    [
      "hashes that are no hashes",
      (text: string) =>
        text.replace(/"gzip":\{"bytes":(\d+),"sha256":"\w+"/, '"gzip":{"bytes":$1,"sha256":"../../evil"'),
    ],
    ["paths outside", (text: string) => text.replace('"path":"terms.txt"', '"path":"../terms.txt"')],
    ["no JSON", () => "<html>"],
    ["no date", (text: string) => text.replace(/"date": "[^"]*"/, '"date": "soon"')],
  ])("with a manifest of %s is refused", async (_what, alter) => {
    const evil = copyOf();
    const path = join(evil, "manifest.json");
    writeFileSync(path, alter(readFileSync(path, "utf8")));
    const copy = join(temporaryFolder(), "site");
    await expect(mirrorInto(copy, evil)).rejects.toMatchObject({ code: "source" });
    expect(existsSync(copy)).toBe(false);
  });

  it("that is none is named", async () => {
    const copy = join(temporaryFolder(), "site");
    const { code, stderr } = await runCli(["mirror", temporaryFolder(), "--site", copy]);
    expect(code).toBe(3);
    expect(stderr).toContain("There is no release in");
    const nothing = await runCli(["mirror", "ftp://example.org/", "--site", copy]);
    expect(nothing.code).toBe(2);
  });
});

describe("a budget", () => {
  it("brings the most useful first, never more than it allows, and the whole release in the end", async () => {
    const { proxy, copy, site } = await ownUpstream();
    const sizes: number[] = [];
    for (let run = 0; run < 60; run++) {
      proxy.reset();
      const { outcome, missing } = await mirrorInto(copy, proxy.address, { maxBytes: 70_000 });
      sizes.push(proxy.bytes());
      if (run === 0) {
        expect(outcome).toBe("unfinished");
        expect(missing).toBeGreaterThan(0);
        const paths = filesBelow(copy);
        expect(paths).toEqual(expect.arrayContaining(["exports/all/6.geojson"]));
        expect((await verifyRelease(copy)).faults).toEqual([]);
      }
      if (outcome === "mirrored") break;
    }
    expect(Math.max(...sizes)).toBeLessThan(70_000 * 1.1);
    expect(sizes.length).toBeGreaterThan(1);
    expect(digestsBelow(copy)).toEqual(digestsBelow(site));
  });

  it("that is spent early leaves a copy that serves what has come, and says what has not", async () => {
    const copy = join(temporaryFolder(), "site");
    const budget = async (maxBytes: number): Promise<readonly string[]> => {
      const { outcome } = await mirrorInto(copy, server.address, { maxBytes });
      expect(outcome).toBe("unfinished");
      expect((await verifyRelease(copy)).faults).toEqual([]);
      return readManifest(copy).manifest.files.map(({ path }) => path);
    };
    const first = await budget(32_000);
    expect(first).toEqual(expect.arrayContaining(["exports/all/6.geojson", "exports/all/2.gpx"]));
    expect(first).not.toContain("index.html");
    const early = await serve(copy);
    const staffed = await fetch(`${early.address}/api.php?type_lieu=6&format=gpx`);
    expect(await staffed.text()).toBe(readFileSync(join(upstream.site, "exports/all/6.gpx"), "utf8"));
    const box = await fetch(`${early.address}/api.php?bbox=0,42,1,43`);
    expect(box.status).toBe(503);
    expect(((await box.json()) as { detail: string }).detail).toMatch(
      /not complete yet: \d+ files are still to come/,
    );
    expect((await fetch(`${early.address}/tiles/0/0/0.pbf`)).status).toBe(503);
    const page = await (await fetch(`${early.address}/`)).text();
    for (const word of ["pas encore complète", "aún no", "encara no", "not complete yet"])
      expect(page).toContain(word);
    for (const [, path = ""] of page.matchAll(/href="([^"]+)"/g))
      expect((await fetch(`${early.address}/${path}`)).status).toBe(200);
    expect(
      ((await (await fetch(`${early.address}/healthz`)).json()) as { missing: number }).missing,
    ).toBeGreaterThan(100);

    let paths = first;
    for (let run = 0; run < 20 && !paths.includes("index.sqlite"); run++) paths = await budget(20_000);
    // The database comes behind the page; the map's program behind the last tile.
    expect(paths).toEqual(
      expect.arrayContaining(["index.html", "app.js", "index.json", "page.json", "style.css"]),
    );
    expect(paths).not.toContain("maplibre-gl.mjs");
    expect(readFileSync(join(copy, "index.html"))).toEqual(readFileSync(join(upstream.site, "index.html")));
    const later = await serve(copy);
    const [ours, theirs] = await Promise.all(
      [later, server].map(({ address }) => fetch(`${address}/api.php?bbox=-1,42,2,43`)),
    );
    expect(await ours?.text()).toBe(await theirs?.text());
    expect((await mirrorInto(copy, server.address)).outcome).toBe("mirrored");
    expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
  });

  it("does not touch a whole release before the new one is whole", async () => {
    const { database, site, copy } = await ownUpstream();
    await mirrorInto(copy, site);
    const before = contentsBelow(copy);
    await pullRecords(database, changed(places, 9, "new"));
    await rebuildSmall(database, site);
    const { outcome } = await mirrorInto(copy, site, { maxBytes: 40_000 });
    expect(outcome).toBe("unfinished");
    expect(contentsBelow(copy)).toEqual(before);
  });
});

it("two mirrors of the same folder at once: the second says so", async () => {
  const { proxy, copy } = await ownUpstream();
  proxy.become({ rate: 20_000 });
  const first = mirrorInto(copy, proxy.address);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await expect(mirrorInto(copy, upstream.site)).rejects.toMatchObject({ code: "busy" });
  proxy.become({});
  expect((await first).outcome).toBe("mirrored");
});

it("a hash in the cache is checked before it is used", async () => {
  const copy = join(temporaryFolder(), "site");
  await mirrorInto(copy, upstream.site);
  const cache = join(dirname(copy), ".site.fetching");
  const { sha256 } = upstream.manifest.files[0] as { sha256: string };
  rmSync(copy, { recursive: true });
  writeFileSync(join(cache, sha256), "not it");
  await mirrorInto(copy, upstream.site);
  expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
});
