import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { createKeys, isSignedBy, signRelease } from "../src/mirror/sign.js";
import { INVENTORY } from "../src/publish/inventory.js";
import { publish as publishHere } from "../src/publish/publish.js";
import { openFolder } from "../src/publish/targets/folder.js";
import { LOCK, type PublishObject } from "../src/publish/targets/target.js";
import { MANIFEST, parseManifest, SIGNATURE, verifyRelease } from "../src/release/manifest.js";
import { startCli } from "./setup/cli.js";
import { digestsBelow, filesBelow, temporaryFolder } from "./setup/folders.js";
import { randomOf } from "./setup/madeplaces.js";
import {
  buildGenerations,
  type Generations,
  missing,
  optionsFor,
  published,
  publishing,
  type Result,
  resultOf,
  thin,
} from "./setup/publishing.js";
import { rebuild } from "./setup/release.js";

let older: string;
let newer: string;
let database: Generations["database"];

beforeAll(async () => {
  ({ older, newer, database } = await buildGenerations());
});

async function publish(site: string, target: string, ...flags: readonly string[]): Promise<Result> {
  return resultOf(await publishing(site, target, flags));
}

function newFolder(): string {
  return join(temporaryFolder(), "www");
}

function copyOf(site: string): string {
  const copy = join(temporaryFolder(), "site");
  cpSync(site, copy, { recursive: true });
  return copy;
}

describe("publish to a folder", () => {
  it("plans without writing, puts everything with the manifest last, and does nothing the second time", async () => {
    const folder = newFolder();
    const planned = await publish(older, folder, "--plan");
    expect(existsSync(folder)).toBe(false);
    const done = await publish(older, folder);
    expect({ ...done, isDone: false }).toEqual(planned);
    expect(done.order.at(-1)).toBe(MANIFEST);
    expect(done.order.indexOf("index.html")).toBeGreaterThan(done.order.indexOf("exports/all/all.geojson"));
    expect(published(folder)).toEqual(digestsBelow(older));
    const times = filesBelow(folder).map((path) => statSync(join(folder, path)).mtimeMs);
    const again = await publish(older, folder);
    expect([again.order, again.deletable, again.purge]).toEqual([[], [], []]);
    expect(filesBelow(folder).map((path) => statSync(join(folder, path)).mtimeMs)).toEqual(times);
  });

  it("keeps what is no longer needed for the grace time, and never touches what is not its own", async () => {
    const folder = newFolder();
    await publish(older, folder);
    mkdirSync(join(folder, "exports/lost/photos"), { recursive: true });
    writeFileSync(join(folder, "exports/lost/photos/a.jpg"), "a photo");
    writeFileSync(join(folder, "robots.txt"), "mine");
    const theirs = join(folder, "exports/lost/all.kml");
    writeFileSync(theirs, "somebody wrote over it");

    const base = ["--base", "https://example.org/x/"];
    const planned = await publish(newer, folder, ...base, "--plan");
    const next = await publish(newer, folder, ...base);
    expect({ ...next, isDone: false }).toEqual(planned);
    expect(next.deletable).toEqual([]);
    expect(next.waiting).toContain("exports/lost/all.gpx");
    expect(next.waiting).not.toContain("exports/lost/all.kml");
    expect(next.purge).toContain("https://example.org/x/exports/all/all.geojson");
    expect(next.purge).toContain("https://example.org/x/");
    expect((await verifyRelease(folder)).faults).toEqual([]);
    expect(existsSync(join(folder, "exports/lost/all.gpx"))).toBe(true);

    const over = await publish(newer, folder, "--grace", "0");
    expect(over.deletable).toEqual(next.waiting);
    expect(readFileSync(theirs, "utf8")).toBe("somebody wrote over it");
    expect(readFileSync(join(folder, "robots.txt"), "utf8")).toBe("mine");
    rmSync(theirs);
    const rest = ["exports/lost/photos/a.jpg", "robots.txt"];
    expect(Object.keys(published(folder)).sort()).toEqual([...filesBelow(newer), ...rest].sort());
  });

  it("refuses to overwrite what is not its own, an older release over a newer one, and a damaged release", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "index.html"), "another site");
    const foreign = await publishing(older, folder);
    expect(foreign.code).toBe(4);
    expect(foreign.stderr).toMatch(/not published from here.*\n {2}index\.html/);
    expect(filesBelow(folder)).toEqual(["index.html"]);
    await publish(newer, folder, "--force");
    const back = await publishing(older, folder);
    expect(back.code).toBe(4);
    expect(back.stderr).toMatch(/an older release is put with --force only/);
    expect(readFileSync(join(folder, MANIFEST))).toEqual(readFileSync(join(newer, MANIFEST)));

    const damaged = copyOf(newer);
    appendFileSync(join(damaged, "terms.txt"), "x");
    expect((await publishing(damaged, newFolder())).code).toBe(5);
    expect((await publishing(newer, join(newer, "inside"))).code).toBe(2);
    expect((await publishing(newer, "ftp://example.org/x")).code).toBe(2);
  });

  it("takes a release that was copied there by hand for its own, and repairs what was altered", async () => {
    const folder = copyOf(older);
    await publish(newer, folder, "--grace", "0");
    expect(published(folder)).toEqual(digestsBelow(newer));
    const path = join(folder, "exports/all/all.csv");
    writeFileSync(path, "altered");
    utimesSync(path, 1, 1);
    expect((await publish(newer, folder)).changed).toEqual(["exports/all/all.csv"]);
    expect(published(folder)).toEqual(digestsBelow(newer));
  });

  it("compares contents, not generations: the same data built another way are published", async () => {
    const folder = newFolder();
    await publish(newer, folder);
    const site = copyOf(newer);
    await rebuild(database, site, { map: { maxZoom: null }, host: "github", brotli: false });
    thin(site);
    const generationOf = (of: string): string =>
      parseManifest(readFileSync(join(of, MANIFEST)), of).generation;
    expect(generationOf(site)).toBe(generationOf(newer));
    const done = await publish(site, folder, "--grace", "0");
    expect([...done.new].sort()).toEqual([".nojekyll", "404.html"]);
    expect(done.changed).toEqual([MANIFEST, "manifest.json.gz"]);
    expect(done.deletable).toContain("exports/all/all.csv.br");
    expect(published(folder)).toEqual(digestsBelow(site));
  });

  it("carries the signature of the manifest, and takes it away with the release that had it", async () => {
    const folder = newFolder();
    const signed = copyOf(older);
    const { publicKey } = createKeys(join(temporaryFolder(), "key"));
    signRelease(signed, publicKey.replace(/\.pub$/, ""));
    expect((await publish(signed, folder)).order.slice(-2)).toEqual([SIGNATURE, MANIFEST]);
    const [manifest, signature] = [MANIFEST, SIGNATURE].map((path) => readFileSync(join(folder, path)));
    expect(isSignedBy(publicKey, manifest as Buffer, signature as Buffer)).toBe(true);
    expect((await publish(newer, folder, "--grace", "0")).deletable).toContain(SIGNATURE);
    expect(published(folder)).toEqual(digestsBelow(newer));
  });

  it("publishes a copy that lacks what another host kept to itself", async () => {
    const site = copyOf(newer);
    await rebuild(database, site, { map: { maxZoom: null }, host: "cloudflare" });
    for (const path of ["_headers", "404.html"]) rmSync(join(site, path));
    const folder = newFolder();
    await publish(site, folder);
    expect(published(folder)).toEqual(digestsBelow(site));
  });
});

describe("a publish that is disturbed", () => {
  it("goes on where a fault ended it", async () => {
    const folder = newFolder();
    const target = openFolder(folder, older);
    let puts = 0;
    const failing = {
      ...target,
      put: (object: PublishObject) => {
        if (++puts > 30) throw new Error("the line broke");
        return target.put(object);
      },
    };
    await expect(publishHere(await optionsFor(older, failing))).rejects.toThrow("the line broke");
    expect(existsSync(join(folder, MANIFEST))).toBe(false);
    const rest = await publish(older, folder);
    expect(rest.unchanged.length).toBe(30);
    expect(published(folder)).toEqual(digestsBelow(older));
  });

  it("does not put the manifest where somebody wrote over its objects meanwhile", async () => {
    const folder = newFolder();
    const target = openFolder(folder, older);
    const disturbed = {
      ...target,
      put: async (object: PublishObject) => {
        const mark = await target.put(object);
        if (object.path === "index.html") writeFileSync(join(folder, "terms.txt"), "theirs");
        return mark;
      },
    };
    await expect(publishHere(await optionsFor(older, disturbed))).rejects.toMatchObject({
      code: "busy",
      details: ["terms.txt"],
    });
    expect(existsSync(join(folder, MANIFEST))).toBe(false);
  });

  it("keeps a second one out while the first is at work, but lets it plan", async () => {
    const folder = newFolder();
    const lock = await openFolder(folder, older).lock();
    const unfinished = join(folder, ".shelters-upload-0");
    writeFileSync(unfinished, "half a file of the first");
    const second = await publishing(older, folder);
    expect([second.code, second.stderr]).toEqual([6, expect.stringMatching(/Another publish is writing/)]);
    expect((await publish(older, folder, "--plan")).order.at(-1)).toBe(MANIFEST);
    expect(readdirSync(folder).sort()).toEqual([LOCK, ".shelters-upload-0"]);
    await lock.release();
    await publish(older, folder);
    expect(published(folder)).toEqual(digestsBelow(older));
  });

  it("leaves one whole release when several run at once", async () => {
    const folder = newFolder();
    const runs = await Promise.all([older, newer, older].map((site) => publishing(site, folder)));
    const codes = runs.map(({ code }) => code);
    expect(codes).toContain(0);
    for (const code of codes) expect([0, 4, 6]).toContain(code); // done, refused as older, or busy
    expect((await verifyRelease(folder)).faults).toEqual([]);
    await publish(newer, folder, "--grace", "0");
    expect(published(folder)).toEqual(digestsBelow(newer));
  });

  it("killed at any moment never leaves a manifest that names what is missing, and goes on from there", {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    const random = randomOf(7);
    for (const site of [older, newer]) {
      let kills = 0;
      for (let try_ = 0; try_ < 6; try_++) {
        if (await killedAfter(random() * 100, site, folder)) kills++;
        if (existsSync(join(folder, MANIFEST))) {
          const manifest = parseManifest(readFileSync(join(folder, MANIFEST)), MANIFEST);
          expect(missing(manifest, new Set(filesBelow(folder)))).toEqual([]);
        }
      }
      expect(kills).toBeGreaterThan(0);
      await publish(site, folder, "--grace", "0");
      expect(published(folder)).toEqual(digestsBelow(site));
    }
  });
});

/** Publishes, and kills the process once so many files were written; false when it ended before. */
async function killedAfter(writes: number, site: string, folder: string): Promise<boolean> {
  const start = Date.now() - 5; // file times are a little behind
  const run = startCli(["publish", "--site", site, "--grace", "0", folder]);
  let isOver = false;
  const ended = run.ended.finally(() => {
    isOver = true;
  });
  while (!isOver && writesSince(start, folder) < writes) await pause(5);
  run.process.kill("SIGKILL");
  return (await ended).code === null;
}

function writesSince(time: number, folder: string): number {
  try {
    const paths = filesBelow(folder).filter((path) => path !== INVENTORY);
    return paths.filter((path) => statSync(join(folder, path)).mtimeMs >= time).length;
  } catch {
    return 0; // not made yet, or something vanished while we looked
  }
}
