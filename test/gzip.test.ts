/** Filtered answers are gzipped from pieces that were compressed at build: whatever is asked for, the stream is the plain answer. */

import { execFile, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { joinChecks, joinTail } from "../src/bytes/crc.js";
import { formatNames, formats } from "../src/formats/index.js";
import { piecesPath } from "../src/release/paths.js";
import { openRelease } from "../src/release/release.js";
import { findChromium, startChromium } from "./setup/browser.js";
import { temporaryFolder } from "./setup/folders.js";
import { ask, type Reply } from "./setup/http.js";
import { type MadePlace, madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease } from "./setup/release.js";
import { serve } from "./setup/serve.js";

const gzip = { "accept-encoding": "gzip" };
let built: BuiltRelease;
let address: string;

beforeAll(async () => {
  built = await buildRelease(madePlaces(700));
  address = (await serve(built.site)).address;
});

/** Without region and category: a build has little to write. */
function inNoFileButTheWhole(place: MadePlace): MadePlace {
  return { ...place, region: "", type_lieu: null };
}

/** Both forms of an answer, which must hold the same. */
async function bothForms(
  base: string,
  query: string,
): Promise<{ readonly plain: Reply; readonly zipped: Reply }> {
  const url = `${base}/api.php?${query}`;
  const [plain, zipped] = await Promise.all([ask(url), ask(url, gzip)]);
  const content = zipped.headers["content-encoding"] === "gzip" ? gunzipSync(zipped.body) : zipped.body;
  expect(content.equals(plain.body), `${query}: the gzip stream holds other bytes`).toBe(true);
  expect(zipped.headers["content-length"]).toBe(String(zipped.body.length));
  return { plain, zipped };
}

describe("a filtered answer in gzip", () => {
  for (const format of formatNames) {
    it(`holds the bytes of the plain answer, for any box, page and category, in ${format}`, async () => {
      const edge = fc.double({ min: -0.2, max: 1.2, noNaN: true });
      const request = fc.record({
        lons: fc.tuple(edge, edge),
        lats: fc.tuple(edge, edge),
        limit: fc.integer({ min: 1, max: 900 }),
        offset: fc.integer({ min: 0, max: 60 }),
        category: fc.constantFrom("all", "2"),
      });
      await fc.assert(
        fc.asyncProperty(request, async ({ lons, lats, limit, offset, category }) => {
          const [west = 0, east = 0] = lons.map((share) => -2 + share * 5.3).sort((a, b) => a - b);
          const [south = 0, north = 0] = lats.map((share) => 42 + share * 1.6).sort((a, b) => a - b);
          const bbox = [west, south, east, north].map((value) => value.toFixed(4)).join(",");
          await bothForms(
            address,
            `format=${format}&bbox=${bbox}&limit=${limit}&offset=${offset}&type_lieu=${category}`,
          );
        }),
        { numRuns: 60, seed: 6 },
      );
    });
  }

  it("is smaller than half of the plain one when neighbours are asked for", async () => {
    const { plain, zipped } = await bothForms(address, "limit=300&offset=100");
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2);
  });

  it("has an ETag of its own that validates, and varies by Accept-Encoding", async () => {
    const { plain, zipped } = await bothForms(address, "limit=300&offset=100");
    expect(zipped.headers.etag).toBe(String(plain.headers.etag).replace(/"$/, '-gz"'));
    expect(zipped.headers.vary).toBe("Accept-Encoding");
    const url = `${address}/api.php?limit=300&offset=100`;
    const again = await ask(url, { ...gzip, "if-none-match": String(zipped.headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await ask(url, { "if-none-match": String(zipped.headers.etag) })).status).toBe(200);
  });

  it("is never sent to who does not take it, and plain where nothing is won", async () => {
    const refused = await ask(`${address}/api.php?limit=300&offset=100`, {
      "accept-encoding": "gzip;q=0, br",
    });
    expect(refused.headers["content-encoding"]).toBeUndefined();
    const { zipped } = await bothForms(address, "limit=1&offset=5");
    expect(zipped.headers["content-encoding"]).toBeUndefined();
    const empty = await ask(`${address}/api.php?bbox=10,10,11,11`, gzip);
    expect([empty.status, empty.headers["ogc-numberreturned"]]).toEqual([200, "0"]);
  });

  it("is read by gzip, by curl and by fetch", async () => {
    const query = "/api.php?format=gpx&limit=500&offset=3";
    const { body } = await ask(address + query, gzip);
    const path = join(temporaryFolder(), "answer.gz");
    writeFileSync(path, body);
    expect(spawnSync("gzip", ["-t", path], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    const plain = (await ask(address + query)).text;
    // This process serves: a synchronous curl would wait for itself.
    const { stdout } = await promisify(execFile)("curl", ["-s", "--compressed", address + query], {
      maxBuffer: 1e8,
    });
    expect(stdout).toBe(plain);
    expect(await (await fetch(address + query)).text()).toBe(plain);
  });

  it("is read by a browser", async (context) => {
    const chromium = findChromium();
    context.skip(chromium === null, "Chromium is not installed");
    const browser = await startChromium(chromium ?? "", false);
    const page = await browser.newPage();
    await page.goto(`${address}/terms.txt`);
    for (const format of formatNames) {
      for (const filter of [
        "limit=500&offset=3",
        "bbox=-1,42.2,2,43&limit=400",
        "type_lieu=2&bbox=-2,42,3,44",
      ]) {
        const path = `/api.php?format=${format}&${filter}`;
        const seen = await page.evaluate(async (asked) => {
          const reply = await fetch(asked);
          const bytes = await reply.arrayBuffer();
          const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
          return {
            coding: reply.headers.get("content-encoding"),
            digest: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""),
          };
        }, path);
        const { body } = await ask(address + path);
        expect(seen, path).toEqual({ coding: "gzip", digest: hash("sha256", body) });
      }
    }
  });

  it("is cut from disk as well as from memory, places longer than a stored block included", async () => {
    const heavy = await buildRelease(
      madePlaces(12).map((place) => ({
        ...inNoFileButTheWhole(place),
        descriptif: `${place.id} neige, vent `.repeat(5500),
      })),
    );
    for (const memory of [0, 64 * 1024 * 1024]) {
      const server = await serve(heavy.site, { memory });
      for (const format of formatNames) await bothForms(server.address, `format=${format}&limit=7&offset=2`);
    }
  });
});

describe("the pieces of a release", () => {
  it("are in the manifest, and hold each place once, with nothing but the place before it to refer to", () => {
    for (const format of formatNames) {
      const path = piecesPath(format);
      expect(built.manifest.files.find((file) => file.path === path)?.codings).toEqual({});
      expect(existsSync(join(built.site, path)), path).toBe(true);
    }
    const release = openRelease(built.site);
    const pieces = release.pieces("json");
    const file = readFileSync(join(built.site, piecesPath("json")));
    const whole = readFileSync(join(built.site, "exports/all/all.json"));
    if (pieces === undefined) throw new Error("there are no pieces");
    const place = (rank: number): Buffer =>
      whole.subarray(
        pieces.offsets[rank],
        (pieces.offsets[rank + 1] as number) - formats.json.separator.length,
      );
    for (let rank = 1; rank < built.manifest.count; rank++) {
      const piece = file.subarray(pieces.index.starts[rank], pieces.index.starts[rank + 1]);
      const ended = Buffer.concat([piece, Buffer.from([3, 0])]);
      const text = inflateRawSync(ended, { dictionary: place(rank - 1) }).toString();
      expect(text).toBe(formats.json.separator + place(rank).toString());
    }
    release.retire();
  });

  it("may be missing: a release of an older program is served plain", async () => {
    const old = await buildRelease(madePlaces(50).map(inNoFileButTheWhole));
    const path = join(old.site, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as { files: { path: string }[] };
    manifest.files = manifest.files.filter((file) => !file.path.startsWith("pieces/"));
    writeFileSync(path, JSON.stringify(manifest));
    const server = await serve(old.site);
    const { zipped } = await bothForms(server.address, "limit=30&offset=2");
    expect(zipped.headers["content-encoding"]).toBeUndefined();
  });
});

describe("the checks of joined bytes", () => {
  it("are those of the whole, for any parts", () => {
    const bytes = fc.uint8Array({ maxLength: 700 });
    fc.assert(
      fc.property(bytes, bytes, bytes, (a, b, c) => {
        const whole = crc32(Buffer.concat([a, b]));
        expect(joinChecks(crc32(a), crc32(b), b.length)).toBe(whole);
        expect(joinTail(crc32(c), crc32(a), whole, b.length)).toBe(crc32(Buffer.concat([c, b])));
      }),
    );
  });

  it("hold for lengths of many megabytes", () => {
    const zeros = Buffer.alloc(70_000_001);
    expect(joinChecks(crc32("a"), crc32(zeros), zeros.length)).toBe(crc32(zeros, crc32("a")));
  });
});
