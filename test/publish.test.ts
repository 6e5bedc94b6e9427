import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { INVENTORY } from "../src/publish/inventory.js";
import { planPublish } from "../src/publish/plan.js";
import { publish as publishPlan } from "../src/publish/publish.js";
import { openFolder } from "../src/publish/targets/folder.js";
import { openS3 } from "../src/publish/targets/s3.js";
import type { PublishObject } from "../src/publish/targets/target.js";
import { formsOf, MANIFEST, type Manifest, parseManifest, verifyRelease } from "../src/release/manifest.js";
import { type Run, runCli, startCli } from "./setup/cli.js";
import { contentsBelow, digestsBelow, filesBelow, temporaryFolder } from "./setup/folders.js";
import { ask, decoded } from "./setup/http.js";
import { madePlaces, randomOf } from "./setup/madeplaces.js";
import { buildRelease, pullRecords, rebuild } from "./setup/release.js";
import { BUCKET, type S3Server, startS3 } from "./setup/s3.js";

/** Two generations: the second one has other texts, and no regions any more. */
let older: string;
let newer: string;
let s3: S3Server;

// Fewer objects; and s3rver lists `tiles.json` and `tiles/` in the order of its folders, not of the keys: it loses one between two pages.
const withoutTiles = { map: { maxZoom: null } } as const;

beforeAll(async () => {
  const records = madePlaces(40).map((place, index) => ({ ...place, region: index < 5 ? "Lost" : "" }));
  const built = await buildRelease(records, withoutTiles);
  older = built.site;
  newer = join(built.folder, "newer");
  const changed = records.map((place) => ({ ...place, region: "", commentaire: "neige" }));
  const database = join(built.folder, "newer.sqlite");
  await pullRecords(database, changed, { date: "2026-02-02T00:00:00Z" });
  await rebuild(database, newer, withoutTiles);
  s3 = await startS3();
});

interface Result {
  readonly new: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  readonly deletable: readonly string[];
  readonly waiting: readonly string[];
  readonly order: readonly string[];
  readonly purge: readonly string[];
}

async function publish(site: string, target: string, ...flags: readonly string[]): Promise<Result> {
  const run = await publishing(site, target, ...flags);
  expect(run.code, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as Result;
}

function publishing(site: string, target: string, ...flags: readonly string[]): Promise<Run> {
  return runCli(["--json", "publish", "--site", site, ...flags, target], { env: s3.env });
}

function newFolder(): string {
  return join(temporaryFolder(), "www");
}

/** Files of the release without what publish keeps beside them. */
function published(folder: string): Record<string, string> {
  const { [INVENTORY]: _, ...files } = digestsBelow(folder);
  return files;
}

describe("publish to a folder", () => {
  it("plans without writing, puts everything with the manifest last, and does nothing the second time", async () => {
    const folder = newFolder();
    const planned = await publish(older, folder, "--plan");
    expect(existsSync(folder)).toBe(false);
    const done = await publish(older, folder);
    expect(done.order).toEqual(planned.order);
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
    const theirs = join(folder, "exports/lost/1.gpx");
    writeFileSync(theirs, "somebody wrote over it");

    const next = await publish(newer, folder, "--base", "https://example.org/x/");
    expect(next.deletable).toEqual([]);
    expect(next.waiting).toContain("exports/lost/all.gpx");
    expect(next.waiting).not.toContain("exports/lost/1.gpx");
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

    const damaged = join(temporaryFolder(), "site");
    cpSync(newer, damaged, { recursive: true });
    appendFileSync(join(damaged, "terms.txt"), "x");
    expect((await publishing(damaged, newFolder())).code).toBe(5);
    expect((await publishing(newer, join(newer, "inside"))).code).toBe(2);
    expect((await publishing(newer, "ftp://example.org/x")).code).toBe(2);
  });

  it("takes a release that was copied there by hand for its own, and repairs what was altered", async () => {
    const folder = newFolder();
    cpSync(older, folder, { recursive: true });
    await publish(newer, folder, "--grace", "0");
    expect(published(folder)).toEqual(digestsBelow(newer));
    const path = join(folder, "exports/all/all.csv");
    writeFileSync(path, "altered");
    utimesSync(path, 1, 1);
    expect((await publish(newer, folder)).changed).toEqual(["exports/all/all.csv"]);
    expect(published(folder)).toEqual(digestsBelow(newer));
  });

  it("goes on where a fault ended it", async () => {
    const folder = newFolder();
    const target = openFolder(folder, older);
    const options = { site: older, gzip: false, force: false, grace: 0, now: 0 };
    const plan = await planPublish({ ...options, target });
    let puts = 0;
    const failing = {
      ...target,
      put: (object: PublishObject) => {
        if (++puts > 100) throw new Error("the line broke");
        return target.put(object);
      },
    };
    await expect(publishPlan(failing, plan, { now: 0, onProgress: () => {} })).rejects.toThrow(
      "the line broke",
    );
    expect(existsSync(join(folder, MANIFEST))).toBe(false);
    const rest = await publish(older, folder);
    expect(rest.unchanged.length).toBe(100);
    expect(published(folder)).toEqual(digestsBelow(older));
  });

  it("killed at any moment never leaves a manifest that names what is missing, and goes on from there", {
    timeout: 180_000,
  }, async () => {
    const folder = newFolder();
    const random = randomOf(7);
    for (const site of [older, newer]) {
      let kills = 0;
      for (let try_ = 0; try_ < 8; try_++) {
        if (await killedAfter(random() * 200, folder, site, folder)) kills++;
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

/** Publishes, and kills the process once so many files were written in a folder; false when it ended before. */
async function killedAfter(writes: number, watched: string, site: string, target: string): Promise<boolean> {
  const start = Date.now() - 5; // file times are a little behind
  const run = startCli(["publish", "--site", site, "--grace", "0", target], { env: s3.env });
  let isOver = false;
  const ended = run.ended.finally(() => {
    isOver = true;
  });
  while (!isOver && writesSince(start, watched) < writes) await pause(25);
  run.process.kill("SIGKILL");
  return (await ended).code === null;
}

function writesSince(time: number, folder: string): number {
  try {
    return filesBelow(folder).filter((path) => statSync(join(folder, path)).mtimeMs >= time).length;
  } catch {
    return 0; // not made yet, or something vanished while we looked
  }
}

function missing(manifest: Manifest, there: ReadonlySet<string>): string[] {
  return [...formsOf(manifest)].map(({ path }) => path).filter((path) => !there.has(path));
}

describe("publish to an S3 server", () => {
  const addressOf = (prefix: string, path: string): string => `${s3.endpoint}/${BUCKET}/${prefix}/${path}`;

  /** What is stored under a prefix, by asking for each path. */
  async function stored(prefix: string, paths: Iterable<string>): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const waiting = [...paths];
    const work = async (): Promise<void> => {
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const reply = await ask(addressOf(prefix, path));
        if (reply.status === 200) found.set(path, reply.body);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    return found;
  }

  it("stores every object with type, cache rule and checksum, and does nothing the second time", async () => {
    const done = await publish(older, `s3://${BUCKET}/plain`);
    expect(done.order.at(-1)).toBe(MANIFEST);
    const files = contentsBelow(older);
    expect(await stored("plain", files.keys())).toEqual(files);
    const csv = await ask(addressOf("plain", "exports/all/all.csv"));
    expect(csv.headers["content-type"]).toMatch(/^text\/csv; charset=utf-8/);
    expect(csv.headers["cache-control"]).toMatch(/max-age=300/);
    expect(csv.headers["content-encoding"]).toBeUndefined();
    expect(csv.headers["x-amz-meta-sha256"]).toMatch(/^[0-9a-f]{64}$/);
    const manifest = await ask(addressOf("plain", MANIFEST));
    expect(manifest.headers["cache-control"]).toBe("no-cache");
    const zipped = await ask(addressOf("plain", "exports/all/all.csv.gz"));
    expect(zipped.headers["content-type"]).toBe("application/gzip");
    expect((await publish(older, `s3://${BUCKET}/plain`)).order).toEqual([]);
  });

  it("stores gzip under plain names with --gzip, but not what is read in ranges", async () => {
    await publish(older, `s3://${BUCKET}/gz`, "--gzip");
    const geojson = await ask(addressOf("gz", "exports/all/all.geojson"));
    expect(geojson.headers["content-encoding"]).toBe("gzip");
    expect(decoded(geojson)).toEqual(readFileSync(join(older, "exports/all/all.geojson")));
    const database = await ask(addressOf("gz", "index.sqlite"));
    expect(database.headers["content-encoding"]).toBeUndefined();
    // A change of headers alone puts the object again.
    const back = await publish(older, `s3://${BUCKET}/gz`);
    expect(back.changed).toContain("exports/all/all.geojson");
    expect(back.changed).not.toContain("index.sqlite");
  });

  it("removes what is not needed after the grace time, and nothing beside its prefix", async () => {
    await publish(older, `s3://${BUCKET}/next`);
    await publish(older, `s3://${BUCKET}/nextdoor`);
    const done = await publish(newer, `s3://${BUCKET}/next`, "--grace", "0");
    expect(done.deletable).toContain("exports/lost/all.gpx");
    expect((await ask(addressOf("next", "exports/lost/all.gpx"))).status).toBe(404);
    expect((await ask(addressOf("nextdoor", "exports/lost/all.gpx"))).status).toBe(200);
    const files = contentsBelow(newer);
    expect(await stored("next", files.keys())).toEqual(files);
  });

  it("puts large files in parts", async () => {
    Object.assign(process.env, s3.env);
    const place = { bucket: BUCKET, prefix: "large", region: "us-east-1", endpoint: s3.endpoint };
    const target = openS3({ ...place, partBytes: 4096 });
    const options = { site: newer, target, gzip: false, force: false, grace: 0, now: 0 };
    await publishPlan(target, await planPublish(options), { now: 0, onProgress: () => {} });
    const path = "exports/all/all.geojson";
    expect(statSync(join(newer, path)).size).toBeGreaterThan(4 * 4096);
    const reply = await ask(addressOf("large", path));
    expect(reply.body.equals(readFileSync(join(newer, path)))).toBe(true);
    expect(reply.headers["content-type"]).toBe("application/geo+json");
    expect((await planPublish(options)).stages.flat()).toEqual([]);
  });

  it("killed at any moment never leaves a manifest that names what is missing, and goes on from there", {
    timeout: 180_000,
  }, async () => {
    const random = randomOf(11);
    const target = `s3://${BUCKET}/killed`;
    for (const site of [older, newer]) {
      let kills = 0;
      for (let try_ = 0; try_ < 2; try_++) {
        if (await killedAfter(random() * 200, s3.directory, site, target)) kills++;
        const reply = await ask(addressOf("killed", MANIFEST));
        if (reply.status !== 200) continue;
        const manifest = parseManifest(reply.body, MANIFEST);
        const paths = [...formsOf(manifest)].map((form) => form.path);
        expect(missing(manifest, new Set((await stored("killed", paths)).keys()))).toEqual([]);
      }
      expect(kills).toBeGreaterThan(0);
      await publish(site, target, "--grace", "0");
      const files = contentsBelow(site);
      expect(await stored("killed", files.keys())).toEqual(files);
    }
    expect((await ask(addressOf("killed", "exports/lost/all.gpx"))).status).toBe(404);
  });

  it("says what is wrong with the bucket, the address or the credentials", async () => {
    const bucket = await publishing(older, "s3://nobody-has-this/x");
    expect([bucket.code, bucket.stderr]).toEqual([7, expect.stringMatching(/there is no such bucket/)]);
    const address = await publishing(older, `s3://${BUCKET}`, "--endpoint", "http://127.0.0.1:9");
    expect([address.code, address.stderr]).toEqual([7, expect.stringMatching(/nothing answers there/)]);
    const env = { ...s3.env, AWS_ACCESS_KEY_ID: "NOBODY" };
    const run = await runCli(["publish", "--site", older, `s3://${BUCKET}/y`], { env });
    expect([run.code, run.stderr]).toEqual([7, expect.stringMatching(/the access key is unknown/)]);
  });
});
