import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { build } from "../src/build/build.js";
import { mirrorEvery } from "../src/mirror/every.js";
import { pack } from "../src/mirror/pack.js";
import { createKeys, signRelease } from "../src/mirror/sign.js";
import { formatManifest, readManifest, verifyRelease } from "../src/release/manifest.js";
import { lanAddresses, qrText, sheetHtml } from "../src/serve/lan.js";
import { runCli, startServing } from "./setup/cli.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { buildSmall, changed, fewFiles, mirrorInto, rebuildSmall, untilServed } from "./setup/mirror.js";
import { openProxy } from "./setup/proxy.js";
import { pullRecords } from "./setup/release.js";
import { serve } from "./setup/serve.js";
import { hasProgram, run } from "./setup/system.js";

const places = fewFiles(40);
const { site } = await buildSmall(places);

describe("a signature", () => {
  const keys = createKeys(join(temporaryFolder(), "shelters.key"));
  const others = createKeys(join(temporaryFolder(), "other.key"));

  it("is asked for when a key is given, checked, and kept in the copy", async () => {
    const signed = join(temporaryFolder(), "site");
    await mirrorInto(signed, site);
    const copy = join(temporaryFolder(), "site");
    const withKey = { publicKey: keys.publicKey };
    await expect(mirrorInto(copy, signed, withKey)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("is not signed"),
    });
    signRelease(signed, others.privateKey);
    await expect(mirrorInto(copy, signed, withKey)).rejects.toMatchObject({ code: "refused" });
    signRelease(signed, keys.privateKey);
    expect((await mirrorInto(copy, (await serve(signed)).address, withKey)).outcome).toBe("mirrored");
    const second = join(temporaryFolder(), "site");
    expect((await mirrorInto(second, copy, withKey)).outcome).toBe("mirrored");
    writeFileSync(join(copy, "manifest.json"), `${readFileSync(join(copy, "manifest.json"), "utf8")} `);
    await expect(mirrorInto(second, copy, withKey)).rejects.toMatchObject({ code: "refused" });
  });

  it("is made by the command line; keys are never written over", async () => {
    const key = join(temporaryFolder(), "k");
    expect((await runCli(["sign", "--new-key", key])).code).toBe(0);
    expect((await runCli(["sign", "--new-key", key])).code).toBe(2);
    expect((await runCli(["sign", "--key", `${key}.pub`, "--site", site])).code).toBe(2);
    expect((await runCli(["sign", "--key", key, "--site", site])).code).toBe(0);
    rmSync(join(site, "manifest.json.sig"));
  });
});

describe("a packed copy", () => {
  it("in a folder is whole, checks itself, has a README in four languages, and is a source of mirrors", async () => {
    const stick = join(temporaryFolder(), "stick");
    await pack(site, stick, () => {});
    execFileSync("sha256sum", ["--quiet", "-c", "SHA256SUMS"], { cwd: stick });
    expect((await runCli(["verify", "--site", stick])).code).toBe(0);
    const readme = readFileSync(join(stick, "README.txt"), "utf8");
    for (const word of ["FRANÇAIS", "ESPAÑOL", "CATALÀ", "ENGLISH"]) expect(readme).toContain(word);
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, stick);
    expect(digestsBelow(copy)).toEqual(digestsBelow(site));
  });

  it("in a zip file is unpacked by unzip and by Python, and is the same files", async () => {
    const zip = join(temporaryFolder(), "shelters.zip");
    const { sha256 } = await pack(site, zip, () => {});
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    const ways: ((folder: string) => unknown)[] = [
      (folder) => execFileSync("python3", ["-m", "zipfile", "-e", zip, folder]),
    ];
    if (hasProgram("unzip")) ways.push((folder) => run("unzip", ["-q", zip, "-d", folder]));
    for (const unpack of ways) {
      const folder = temporaryFolder();
      unpack(folder);
      const unpacked = join(folder, "mountain-shelters");
      execFileSync("sha256sum", ["--quiet", "-c", "SHA256SUMS"], { cwd: unpacked });
      const { "README.txt": _readme, SHA256SUMS: _sums, ...files } = digestsBelow(unpacked);
      expect(files).toEqual(digestsBelow(site));
    }
  });

  it("can be put on a disk of Windows or a FAT stick, whatever the regions are called", async () => {
    const regions = [
      "con",
      "AUX",
      "Nul",
      "Com1",
      "lpt9",
      "a:b",
      "x. ",
      `${"Vallée ".repeat(60)}`,
      "ARAGÓN",
      "aragon",
    ];
    const database = join(temporaryFolder(), "places.sqlite");
    await pullRecords(
      database,
      places.map((place, index) => ({ ...place, region: regions[index % regions.length] ?? "" })),
    );
    const windows = join(temporaryFolder(), "site");
    await build({ database, site: windows, brotli: false, map: { maxZoom: 1 }, onProgress: () => {} });
    const stick = join(temporaryFolder(), "stick");
    await pack(windows, stick, () => {});
    const entries = readdirSync(stick, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => !entry.isFile() && !entry.isDirectory())).toEqual([]);
    const paths = entries.map(({ parentPath, name }) => relative(stick, join(parentPath, name)));
    for (const path of paths) {
      expect(path.length).toBeLessThan(120);
      for (const name of path.split("/")) {
        expect(name).toMatch(/^[A-Za-z0-9._-]*[A-Za-z0-9_-]$/);
        expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
      }
    }
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
  });

  it("is not made of a damaged release, nor over other things", async () => {
    const damaged = join(temporaryFolder(), "site");
    await mirrorInto(damaged, site);
    rmSync(join(damaged, "terms.txt"));
    await expect(pack(damaged, join(temporaryFolder(), "x"), () => {})).rejects.toMatchObject({
      code: "damaged",
    });
    const full = temporaryFolder();
    writeFileSync(join(full, "holiday.jpg"), "precious");
    await expect(pack(site, full, () => {})).rejects.toMatchObject({ code: "usage" });
    expect(readFileSync(join(full, "holiday.jpg"), "utf8")).toBe("precious");
  });
});

describe("on a local network", () => {
  it("the sheet escapes what it shows, and carries the address as text and as a code", () => {
    const facts = { title: "A & <B>", date: "2026-01-02T03:04:05Z", attribution: "C", wifi: "<Refuge>" };
    const html = sheetHtml({ ...facts, address: "http://192.168.1.2:8080/" });
    expect(html).toContain("A &amp; &lt;B&gt;");
    expect(html).toContain("Wi-Fi: &lt;Refuge&gt;");
    expect(html).toContain("http://192.168.1.2:8080/");
    expect(html).toContain("<svg");
    expect(html).not.toMatch(/(src|href)="http/);
    for (const lang of ["fr", "es", "ca", "en"]) expect(html).toContain(`lang="${lang}"`);
    expect(sheetHtml({ ...facts, wifi: null, address: "x" })).toContain("blank");
    const lines = qrText("http://192.168.1.2:8080/").split("\n");
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });

  it("serve --lan answers at every address that it prints, and writes the sheet beside the release", async () => {
    const folder = temporaryFolder();
    const copy = join(folder, "site");
    await mirrorInto(copy, site);
    const { address, process, ended } = await startServing(["serve", "--lan", "--site", copy]);
    const port = Number(new URL(address).port);
    for (const own of [`http://127.0.0.1:${port}`, ...lanAddresses(port)])
      expect((await fetch(new URL("manifest.json", own))).status).toBe(200);
    expect(existsSync(join(folder, "site-sheet.html"))).toBe(lanAddresses(port).length > 0);
    process.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });
});

it("serve --mirror fetches the first copy, renews it by itself, and goes on serving when the source is gone", async () => {
  const upstream = await buildSmall(places);
  const proxy = await openProxy((await serve(upstream.site)).address);
  const copy = join(temporaryFolder(), "site");
  const args = ["serve", "--mirror", proxy.address, "--site", copy, "--every", "1s", "--rebuild", "never"];
  const { address, process, ended } = await startServing(args);
  const generation = async (): Promise<string> =>
    ((await (await fetch(`${address}/manifest.json`)).json()) as { generation: string }).generation;
  expect(await generation()).toBe(upstream.manifest.generation);
  await pullRecords(upstream.database, changed(places, 10, "new"));
  const { generation: next } = await rebuildSmall(upstream.database, upstream.site);
  await expect.poll(generation, { timeout: 30_000, interval: 300 }).toBe(next);
  await proxy.close();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await generation()).toBe(next);
  process.kill("SIGTERM");
  expect((await ended).code).toBe(0);
});

it("a mirror that is kept fresh outlives a source that is gone for many rounds, and takes what it has when it is back", async () => {
  const stick = join(temporaryFolder(), "stick");
  cpSync(site, stick, { recursive: true });
  const copy = join(temporaryFolder(), "site");
  const rounds: string[] = [];
  const stop = new AbortController();
  const running = mirrorEvery({
    source: stick,
    site: copy,
    every: 0.02,
    isFirstNow: true,
    signal: stop.signal,
    onRound: (round) => rounds.push("outcome" in round ? round.outcome : round.code),
    onLine: () => {},
    onProgress: () => {},
  });
  const last = (): string | undefined => rounds.at(-1);
  await expect.poll(last, { timeout: 20_000 }).toBe("unchanged");
  const since = rounds.length;
  renameSync(stick, `${stick}-away`);
  await expect.poll(() => rounds.length, { timeout: 20_000 }).toBeGreaterThan(since + 20);
  expect(new Set(rounds.slice(since + 2))).toEqual(new Set(["source"]));
  expect((await verifyRelease(copy)).faults).toEqual([]);
  const { manifest } = readManifest(`${stick}-away`);
  const newer = formatManifest({ ...manifest, date: "2026-04-01T00:00:00Z" });
  writeFileSync(join(`${stick}-away`, "manifest.json"), newer);
  renameSync(`${stick}-away`, stick);
  await expect.poll(() => rounds.filter((round) => round === "mirrored").length, { timeout: 20_000 }).toBe(2);
  expect(readFileSync(join(copy, "manifest.json"), "utf8")).toBe(newer);
  stop.abort(new Error("enough"));
  await running;
});

it("a copy that is behind by a few generations catches up by changes alone, and is then a fresh copy byte by byte", async () => {
  const upstream = await buildSmall(places);
  const server = await serve(upstream.site);
  const copy = join(temporaryFolder(), "site");
  await mirrorInto(copy, server.address, { rebuild: "always" });
  for (let day = 1; day <= 3; day++) {
    // A key that only one place has, and on the last day none.
    const [first, ...others] = changed(places, 10 + day, `day ${day}`).slice(day % 2);
    const today = [day < 3 ? { ...first, wc: "oui" } : first, ...others];
    await pullRecords(upstream.database, today, { date: `2026-02-0${day}T00:00:00Z` });
    await rebuildSmall(upstream.database, upstream.site);
    if (day === 1) continue; // two steps at once
    await untilServed(server.address, upstream.site);
    const { lines } = await mirrorInto(copy, server.address, { rebuild: "always" });
    expect(digestsBelow(copy)).toEqual(digestsBelow(upstream.site));
    expect(lines.join("\n")).toMatch(/Rebuilt from [\d.]+ kB of changes/);
  }
});
