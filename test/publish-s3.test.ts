import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { planPublish } from "../src/publish/plan.js";
import { publish as publishHere } from "../src/publish/publish.js";
import { openS3, type S3Options } from "../src/publish/targets/s3.js";
import { LOCK, type Target } from "../src/publish/targets/target.js";
import { formsOf, MANIFEST, parseManifest } from "../src/release/manifest.js";
import { type Run, startCli } from "./setup/cli.js";
import { contentsBelow, digestsBelow } from "./setup/folders.js";
import { ask, decoded } from "./setup/http.js";
import { randomOf } from "./setup/madeplaces.js";
import {
  buildGenerations,
  missing,
  optionsFor,
  publishing,
  type Result,
  resultOf,
} from "./setup/publishing.js";
import { BUCKET, type S3Server, startS3 } from "./setup/s3.js";
import { type S3Request, unfinished } from "./setup/s3gate.js";

let older: string;
let newer: string;
let s3: S3Server;

beforeAll(async () => {
  ({ older, newer } = await buildGenerations({ brotli: false }));
  s3 = await startS3();
  Object.assign(process.env, s3.env);
});

afterEach(() => {
  s3.gate.meddle = () => undefined;
  s3.gate.conditions = "heeded";
});

function run(site: string, prefix: string, ...flags: readonly string[]): Promise<Run> {
  return publishing(site, `s3://${BUCKET}/${prefix}`, flags, s3.env);
}

async function publish(site: string, prefix: string, ...flags: readonly string[]): Promise<Result> {
  return resultOf(await run(site, prefix, ...flags));
}

/** A target in this process, whose locks die soon. */
function openHere(prefix: string, more: Partial<S3Options> = {}): Target {
  const place = { bucket: BUCKET, prefix, region: "us-east-1", endpoint: s3.endpoint };
  return openS3({ ...place, lockTimes: { renewal: 50, patience: 2_000 }, ...more });
}

function addressOf(prefix: string, path: string): string {
  return `${s3.endpoint}/${BUCKET}/${prefix}/${path}`;
}

/** SHA-256 of what is stored under a prefix, by asking for each path. */
async function stored(prefix: string, paths: Iterable<string>): Promise<Record<string, string>> {
  const found = new Map<string, string>();
  const waiting = [...paths];
  const work = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const { status, body } = await ask(addressOf(prefix, path));
      if (status === 200) found.set(path, createHash("sha256").update(body).digest("hex"));
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function expectWhole(prefix: string, site: string): Promise<void> {
  const expected = digestsBelow(site);
  expect(await stored(prefix, Object.keys(expected))).toEqual(expected);
}

const isPut = ({ method, key }: S3Request): boolean => method === "PUT" && !key.endsWith(LOCK);

describe("publish to an S3 server", () => {
  it("stores every object with type, cache rule and checksum, and writes nothing the second time", async () => {
    const done = await publish(older, "plain");
    expect(done.order.at(-1)).toBe(MANIFEST);
    await expectWhole("plain", older);
    const csv = await ask(addressOf("plain", "exports/all/all.csv"));
    expect(csv.headers["content-type"]).toMatch(/^text\/csv; charset=utf-8/);
    expect(csv.headers["cache-control"]).toMatch(/max-age=300/);
    expect(csv.headers["content-encoding"]).toBeUndefined();
    expect(csv.headers["x-amz-meta-sha256"]).toMatch(/^[0-9a-f]{64}$/);
    const manifest = await ask(addressOf("plain", MANIFEST));
    expect(manifest.headers["cache-control"]).toBe("no-cache");
    const zipped = await ask(addressOf("plain", "exports/all/all.csv.gz"));
    expect(zipped.headers["content-type"]).toBe("application/gzip");
    expect((await ask(addressOf("plain", LOCK))).status).toBe(404);

    s3.gate.requests.length = 0;
    expect((await publish(older, "plain")).order).toEqual([]);
    expect(new Set(s3.gate.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  it("plans what is then done, purges what changed, and removes what is not needed after the grace time, nothing beside its prefix", async () => {
    await publish(older, "next");
    await publish(older, "nextdoor");
    const planned = await publish(newer, "next", "--plan", "--grace", "0");
    s3.gate.requests.length = 0;
    const done = await publish(newer, "next", "--grace", "0");
    expect({ ...done, isDone: false }).toEqual(planned);
    const keys = (method: string): string[] =>
      s3.gate.requests.filter((one) => one.method === method).map(({ key }) => key.replace(/^next\//, ""));
    expect(new Set(keys("PUT").filter((key) => !key.startsWith(".")))).toEqual(new Set(done.order));
    expect(new Set(keys("DELETE"))).toEqual(new Set([...done.deletable, LOCK]));
    const last = s3.gate.requests.findIndex(
      ({ method, key }) => method === "PUT" && key === `next/${MANIFEST}`,
    );
    const deleted = s3.gate.requests.findIndex(({ method }) => method === "DELETE");
    expect(
      s3.gate.requests
        .slice(last + 1)
        .filter(isPut)
        .map(({ key }) => key),
    ).toEqual(["next/.shelters-publish.json"]);
    expect(last).toBeLessThan(deleted);
    expect(done.deletable).toContain("exports/lost/all.gpx");
    expect(done.purge).toContain("/exports/lost/all.gpx");
    expect((await ask(addressOf("next", "exports/lost/all.gpx"))).status).toBe(404);
    expect((await ask(addressOf("nextdoor", "exports/lost/all.gpx"))).status).toBe(200);
    await expectWhole("next", newer);
  });

  it("stores gzip under plain names with --gzip, but not what is read in ranges", async () => {
    await publish(older, "gz", "--gzip");
    const geojson = await ask(addressOf("gz", "exports/all/all.geojson"));
    expect(geojson.headers["content-encoding"]).toBe("gzip");
    expect(decoded(geojson).equals(readFileSync(join(older, "exports/all/all.geojson")))).toBe(true);
    const database = await ask(addressOf("gz", "index.sqlite"));
    expect(database.headers["content-encoding"]).toBeUndefined();
    // A change of headers alone puts the object again.
    const back = await publish(older, "gz", "--plan");
    expect(back.changed).toContain("exports/all/all.geojson");
    expect(back.changed).not.toContain("index.sqlite");
  });

  it("puts large files in parts, and takes away the parts that a broken run left", async () => {
    const target = openHere("large", { partBytes: 65_536 });
    const path = "maplibre-gl.mjs";
    expect(statSync(join(newer, path)).size).toBeGreaterThan(4 * 65_536);
    const isOf = ({ key, query }: S3Request): boolean => key === `large/${path}` && query.has("uploadId");
    s3.gate.meddle = (asked) =>
      isOf(asked) && asked.query.get("partNumber") !== "1" ? { status: 400, code: "Broken" } : undefined;
    await expect(publishHere(await optionsFor(newer, target))).rejects.toThrow(/Broken/);
    const foreign = await ask(`${addressOf("large", "theirs.iso")}?uploads`, {}, "POST");
    expect(foreign.status).toBe(200);
    expect(unfinished(s3.folder).map(({ key }) => key)).toEqual([`large/${path}`, "large/theirs.iso"]);
    s3.gate.meddle = () => undefined;

    await publishHere(await optionsFor(newer, target));
    expect(unfinished(s3.folder).map(({ key }) => key)).toEqual(["large/theirs.iso"]);
    await expectWhole("large", newer);
    const reply = await ask(addressOf("large", path));
    expect(reply.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect((await planPublish(await optionsFor(newer, target))).stages.flat()).toEqual([]);
  });

  it("works below no prefix at all", async () => {
    const target = openHere("");
    await target.note("a/b.txt", Buffer.from("b"));
    expect((await target.list()).has("a/b.txt")).toBe(true);
    expect((await target.read("a/b.txt"))?.toString()).toBe("b");
    await target.remove("a/b.txt");
    expect((await target.list()).has("a/b.txt")).toBe(false);
  });
});

describe("the lock of a bucket", () => {
  it.each(["heeded", "ignored", "refused"] as const)(
    "keeps a second one out while the first lives, where conditional writes are %s",
    async (conditions) => {
      s3.gate.conditions = conditions;
      const prefix = `lock-${conditions}`;
      const first = await openHere(prefix).lock();
      await expect(openHere(prefix).lock()).rejects.toMatchObject({ code: "busy" });
      await first.check();
      await first.release();
      const again = await openHere(prefix).lock();
      await again.release();
      expect((await ask(addressOf(prefix, LOCK))).status).toBe(404);
    },
  );

  it.each(["heeded", "ignored"] as const)(
    "goes to one of those who want it at the same time, where conditional writes are %s",
    async (conditions) => {
      s3.gate.conditions = conditions;
      const wanted = Array.from({ length: 5 }, () => openHere(`race-${conditions}`).lock());
      const locks = (await Promise.allSettled(wanted)).flatMap((one) =>
        one.status === "fulfilled" ? [one.value] : [],
      );
      const checks = await Promise.allSettled(locks.map((lock) => lock.check()));
      expect(checks.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const lock of locks) await lock.release();
      expect((await ask(addressOf(`race-${conditions}`, LOCK))).status).toBe(404);
    },
  );

  it("of a run that gives no sign of life is taken over, and that run, should it wake, puts no manifest", async () => {
    const sleeping = openHere("asleep", { lockTimes: { renewal: 60_000, patience: 2_000 } });
    let puts = 0;
    const woken = {
      ...sleeping,
      put: async (object: Parameters<Target["put"]>[0]) => {
        if (++puts === 1) await publishHere(await optionsFor(newer, openHere("asleep")));
        return sleeping.put(object);
      },
    };
    await expect(publishHere(await optionsFor(older, woken))).rejects.toMatchObject({ code: "busy" });
    const manifest = await ask(addressOf("asleep", MANIFEST));
    expect(manifest.body.equals(readFileSync(join(newer, MANIFEST)))).toBe(true);
    await publish(newer, "asleep", "--grace", "0");
    await expectWhole("asleep", newer);
  });

  it("stops `shelters publish` with exit code 6, and lets it plan", async () => {
    const lock = await openHere("busy").lock();
    s3.gate.requests.length = 0;
    const second = run(older, "busy");
    expect((await publish(older, "busy", "--plan")).order.at(-1)).toBe(MANIFEST);
    expect(await second).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/Another publish is writing/),
    });
    expect(s3.gate.requests.filter(isPut)).toEqual([]);
    await lock.release();
  });
});

describe("a publish to an S3 server that is disturbed", () => {
  it("killed at any moment never leaves a manifest that names what is missing, and goes on from there", {
    timeout: 120_000,
  }, async () => {
    const random = randomOf(11);
    for (const site of [older, newer]) {
      let kills = 0;
      for (let try_ = 0; try_ < 3; try_++) {
        if (await killedAfter(Math.ceil(random() * 80), site)) kills++;
        await ask(addressOf("killed", LOCK), {}, "DELETE"); // instead of waiting until it is dead
        const reply = await ask(addressOf("killed", MANIFEST));
        if (reply.status !== 200) continue;
        const manifest = parseManifest(reply.body, MANIFEST);
        const paths = [...formsOf(manifest)].map((form) => form.path);
        expect(missing(manifest, new Set(Object.keys(await stored("killed", paths))))).toEqual([]);
      }
      expect(kills).toBeGreaterThan(0);
      await publish(site, "killed", "--grace", "0");
      await expectWhole("killed", site);
    }
    expect((await ask(addressOf("killed", "exports/lost/all.gpx"))).status).toBe(404);
  });

  it("goes on when the store asks for patience, and ends when it never stops asking", async () => {
    let asked = 0;
    s3.gate.meddle = () => (++asked % 15 === 0 ? { status: 503, code: "SlowDown" } : undefined);
    await publishHere(await optionsFor(older, openHere("slow")));
    expect(asked).toBeGreaterThan(100);
    s3.gate.meddle = () => undefined;
    await expectWhole("slow", older);

    s3.gate.meddle = (one) => (isPut(one) ? { status: 503, code: "SlowDown" } : undefined);
    s3.gate.requests.length = 0;
    const ended = await run(newer, "slow");
    expect(ended).toMatchObject({ code: 7, stderr: expect.stringMatching(/the store is too busy/) });
    expect(s3.gate.requests.length).toBeLessThan(100);
  });

  it("ends when the store does not answer any more", async () => {
    const target = openHere("silent", { idle: 200 });
    s3.gate.meddle = () => new Promise(() => {});
    await expect(target.list()).rejects.toMatchObject({ code: "system", message: /no answer in time/ });
  });

  it("says what is wrong with the bucket, the address or the credentials", async () => {
    const bucket = await publishing(older, "s3://nobody-has-this/x", [], s3.env);
    expect([bucket.code, bucket.stderr]).toEqual([7, expect.stringMatching(/there is no such bucket/)]);
    const address = await run(older, "", "--endpoint", "http://127.0.0.1:9");
    expect([address.code, address.stderr]).toEqual([7, expect.stringMatching(/nothing answers there/)]);
    const env = { ...s3.env, AWS_ACCESS_KEY_ID: "NOBODY" };
    const nobody = await publishing(older, `s3://${BUCKET}/y`, [], env);
    expect([nobody.code, nobody.stderr]).toEqual([7, expect.stringMatching(/the access key is unknown/)]);
  });
});

/** Publishes, and kills the process at a put; false when it ended before. */
async function killedAfter(puts: number, site: string): Promise<boolean> {
  const started = startCli(["publish", "--site", site, "--grace", "0", `s3://${BUCKET}/killed`], {
    env: s3.env,
  });
  let seen = 0;
  s3.gate.meddle = (asked) => {
    if (isPut(asked) && ++seen >= puts) started.process.kill("SIGKILL");
    return undefined;
  };
  return (await started.ended).code === null;
}

describe("the server of these tests", () => {
  it("takes no body without a checksum that fits", async () => {
    const put = (sum: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request(addressOf("strict", "x"), { method: "PUT", headers: sum }, (reply) => {
          reply.resume().on("end", () => resolve(reply.statusCode));
        });
        sent.on("error", reject);
        sent.end("body");
      });
    const md5 = createHash("md5").update("body").digest("base64");
    const sha256 = createHash("sha256").update("body").digest("base64");
    expect(await put({ "content-md5": md5 })).toBe(200);
    expect(await put({ "x-amz-checksum-sha256": sha256 })).toBe(200);
    expect(await put({ "content-md5": md5.replace(/^./, "_") })).toBe(400);
    expect(await put({})).toBe(400);
    expect(contentsBelow(join(s3.folder, "strict")).size).toBeGreaterThan(0);
  });
});
