import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ask, type Reply, rawGet, statusOf } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

let release: BuiltRelease;
let server: TestServer;
const FILE = "/exports/all/all.geojson";
const STABLE = "public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800";

beforeAll(async () => {
  release = await buildRelease(madePlaces(150, 5));
  // What an operator adds to the folder, and what an editor or a version control leaves there.
  writeFileSync(join(release.site, "robots.txt"), "User-agent: *\n");
  writeFileSync(join(release.site, ".htpasswd"), "secret");
  mkdirSync(join(release.site, ".git"));
  writeFileSync(join(release.site, ".git", "config"), "secret");
  writeFileSync(join(release.folder, "public", "outside.txt"), "secret");
  server = await serve(release.site);
});

const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Reply> =>
  ask(server.address + path, headers, method);

/** What every answer carries, an error too. */
function expectCommonHeaders({ headers }: Reply): void {
  expect(headers["access-control-allow-origin"]).toBe("*");
  for (const name of [
    "ETag",
    "Link",
    "Content-Length",
    "Content-Range",
    "Accept-Ranges",
    "OGC-NumberMatched",
  ])
    expect(headers["access-control-expose-headers"]).toContain(name);
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["vary"]).toBe("Accept-Encoding");
}

function expectProblem(reply: Reply, status: number): { errors?: Record<string, string>[] } {
  expect(reply.status).toBe(status);
  expect(reply.headers["content-type"]).toBe("application/problem+json");
  expectCommonHeaders(reply);
  const body = JSON.parse(reply.text) as {
    title: string;
    detail: string;
    errors?: Record<string, string>[];
  };
  expect(body).toMatchObject({ type: "about:blank", status });
  expect(body.title).not.toBe("");
  expect(body.detail).not.toBe("");
  return body;
}

describe("methods", () => {
  it("/api.php answers GET only", async () => {
    for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"]) {
      const reply = await get("/api.php", {}, method);
      expect(reply.status, method).toBe(405);
      expect(reply.headers["allow"]).toBe("GET");
      expectCommonHeaders(reply);
      if (method === "HEAD") expect(reply.body).toHaveLength(0);
      else expectProblem(reply, 405);
    }
  });

  it("files answer GET, HEAD and OPTIONS", async () => {
    const whole = await get(FILE);
    const head = await get(FILE, {}, "HEAD");
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    const { date: _one, ...headHeaders } = head.headers;
    const { date: _two, ...wholeHeaders } = whole.headers;
    expect(headHeaders).toEqual(wholeHeaders);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const reply = await get(FILE, {}, method);
      expectProblem(reply, 405);
      expect(reply.headers["allow"]).toBe("GET, HEAD, OPTIONS");
    }
  });

  it("a preflight for a file allows ranges and conditions", async () => {
    const reply = await get(
      FILE,
      { origin: "https://example.org", "access-control-request-method": "GET" },
      "OPTIONS",
    );
    expect(reply.status).toBe(204);
    expectCommonHeaders(reply);
    expect(reply.headers["access-control-allow-methods"]).toBe("GET, HEAD, OPTIONS");
    for (const name of ["Range", "If-None-Match", "If-Range"])
      expect(reply.headers["access-control-allow-headers"]).toContain(name);
  });
});

describe("codings", () => {
  const codingFor = async (accept: string, path = FILE): Promise<string | undefined> =>
    (await get(path, accept === "" ? {} : { "accept-encoding": accept })).headers["content-encoding"];

  it("are chosen by what the client likes best, q=0 included", async () => {
    const cases: readonly (readonly [string, string | undefined])[] = [
      ["", undefined],
      ["gzip, deflate, br, zstd", "br"],
      ["gzip, deflate", "gzip"],
      ["br;q=0.2, gzip;q=0.8", "gzip"],
      ["gzip;q=0", undefined],
      ["gzip;q=0, br;q=0", undefined],
      ["br;q=0, *", "gzip"],
      ["*", "br"],
      ["*;q=0", undefined],
      ["identity", undefined],
      ["identity;q=1, gzip;q=0.5", undefined],
      ["zstd, deflate", undefined],
      ["GZIP", "gzip"],
      [";;;,,=", undefined],
    ];
    for (const path of [FILE, "/api.php", "/openapi.json"])
      for (const [accept, coding] of cases)
        expect(await codingFor(accept, path), `${path} ${accept}`).toBe(coding);
  });

  it("have ETags of their own, and every answer varies by Accept-Encoding", async () => {
    for (const path of [FILE, "/api.php?format=gpx", "/openapi.json", "/"]) {
      const etags = await Promise.all(
        ["identity", "gzip", "br"].map(async (accept) => {
          const reply = await get(path, { "accept-encoding": accept });
          expectCommonHeaders(reply);
          return String(reply.headers["etag"]);
        }),
      );
      const hash = /^"([\w-]+)"$/.exec(etags[0] ?? "")?.[1];
      expect(hash).toBeDefined();
      expect(etags).toEqual([`"${hash}"`, `"${hash}-gz"`, `"${hash}-br"`]);
    }
  });
});

describe("conditional requests", () => {
  it("If-None-Match takes lists, weak tags and *, and wins over a date", async () => {
    for (const path of [FILE, "/api.php", "/api.php?limit=3", "/manifest.json"]) {
      const first = await get(path);
      const etag = String(first.headers["etag"]);
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`, `"a",W/"b",${etag},"c"`, "*"]) {
        const reply = await get(path, { "if-none-match": value });
        expect(reply.status, `${path} ${value}`).toBe(304);
        expect(reply.body).toHaveLength(0);
        expectCommonHeaders(reply);
        expect(reply.headers["etag"]).toBe(etag);
        expect(reply.headers["cache-control"]).toBe(first.headers["cache-control"]);
      }
      for (const value of ['"other"', etag.replaceAll('"', ""), '"', ",,,"])
        expect((await get(path, { "if-none-match": value })).status, `${path} ${value}`).toBe(200);
      const future = new Date(Date.now() + 1e9).toUTCString();
      expect((await get(path, { "if-none-match": '"other"', "if-modified-since": future })).status).toBe(200);
    }
  });

  it("the ETag of one coding does not match another", async () => {
    const { headers } = await get(FILE, { "accept-encoding": "gzip" });
    const etag = String(headers["etag"]);
    expect((await get(FILE, { "accept-encoding": "gzip", "if-none-match": etag })).status).toBe(304);
    expect((await get(FILE, { "accept-encoding": "br", "if-none-match": etag })).status).toBe(200);
    expect((await get(FILE, { "if-none-match": etag })).status).toBe(200);
  });

  it("If-Modified-Since compares with the date of the release", async () => {
    const { headers } = await get(FILE);
    const written = statSync(join(release.site, "manifest.json")).mtimeMs;
    expect(headers["last-modified"]).toBe(new Date(written).toUTCString());
    const since = (date: string): Promise<Reply> => get(FILE, { "if-modified-since": date });
    expect((await since(String(headers["last-modified"]))).status).toBe(304);
    expect((await since(new Date(written - 2000).toUTCString())).status).toBe(200);
    expect((await since(new Date(release.manifest.date).toUTCString())).status).toBe(200);
    expect((await since("yesterday")).status).toBe(200);
  });
});

it("another program's bytes of the same data have a later date, and data that are newer than their file have their own", async () => {
  const { site, manifest } = await buildRelease(madePlaces(5));
  const dateOf = async (written: string): Promise<string | undefined> => {
    utimesSync(join(site, "manifest.json"), new Date(written), new Date(written));
    return (await ask(`${(await serve(site)).address}/terms.txt`)).headers["last-modified"];
  };
  expect(await dateOf("2031-01-01T00:00:00Z")).toBe("Wed, 01 Jan 2031 00:00:00 GMT");
  expect(await dateOf("2001-01-01T00:00:00Z")).toBe(new Date(manifest.date).toUTCString());
});

describe("ranges", () => {
  it("give exactly the bytes asked for, always of the plain form", async () => {
    const { body } = await get(FILE);
    const size = body.length;
    const cases: readonly (readonly [string, number, number])[] = [
      ["bytes=0-0", 0, 0],
      ["bytes=0-99", 0, 99],
      ["bytes=100-", 100, size - 1],
      ["bytes=-500", size - 500, size - 1],
      ["bytes=-1", size - 1, size - 1],
      [`bytes=-${size * 2}`, 0, size - 1],
      [`bytes=${size - 1}-${size + 50}`, size - 1, size - 1],
    ];
    for (const [range, start, end] of cases) {
      const reply = await get(FILE, { range, "accept-encoding": "gzip, br" });
      expect(reply.status, range).toBe(206);
      expect(reply.headers["content-range"]).toBe(`bytes ${start}-${end}/${size}`);
      expect(reply.headers["content-encoding"]).toBeUndefined();
      expect(reply.headers["content-length"]).toBe(String(end - start + 1));
      expect(reply.body.equals(body.subarray(start, end + 1)), range).toBe(true);
      expectCommonHeaders(reply);
    }
  });

  it("outside the file are 416, and say how long it is", async () => {
    const { body } = await get(FILE);
    for (const range of [`bytes=${body.length}-`, "bytes=99999999-999999999", "bytes=-0"]) {
      const reply = await get(FILE, { range });
      expectProblem(reply, 416);
      expect(reply.headers["content-range"]).toBe(`bytes */${body.length}`);
    }
  });

  it("that are malformed, of other units or several at once get the whole file", async () => {
    const { body } = await get(FILE);
    for (const range of ["bytes", "bytes=", "bytes=a-b", "lines=0-1", "bytes=0-0,5-6", "0-0"]) {
      const reply = await get(FILE, { range });
      expect(reply.status, range).toBe(200);
      expect(reply.body.equals(body)).toBe(true);
    }
  });

  it("are only cut from what If-Range names", async () => {
    const { headers } = await get(FILE);
    const range = { range: "bytes=0-9" };
    const partial = async (value: string): Promise<number> =>
      (await get(FILE, { ...range, "if-range": value })).status;
    expect(await partial(String(headers["etag"]))).toBe(206);
    expect(await partial(String(headers["last-modified"]))).toBe(206);
    expect(await partial('"other"')).toBe(200);
    expect(await partial(`W/${headers["etag"]}`)).toBe(200);
    expect(await partial(new Date(0).toUTCString())).toBe(200);
  });

  it("are offered by files", async () => {
    for (const path of [FILE, "/manifest.json", "/exports/all/all.csv.gz"]) {
      expect((await get(path)).headers["accept-ranges"]).toBe("bytes");
      expect((await get(path, { range: "bytes=1-3" })).body).toHaveLength(3);
    }
  });
});

describe("headers say what a file is", () => {
  it("by the type of every extension", async () => {
    const types: Record<string, string> = {
      geojson: "application/geo+json",
      json: "application/json",
      csv: "text/csv; charset=utf-8; header=present",
    };
    for (const [format, type] of Object.entries(types)) {
      expect((await get(`/exports/all/all.${format}`)).headers["content-type"]).toBe(type);
      expect((await get(`/api.php?format=${format}&limit=2`)).headers["content-type"]).toBe(type);
    }
    for (const [format, type] of [
      ["gpx", "application/gpx+xml"],
      ["kml", "application/vnd.google-earth.kml+xml"],
    ]) {
      for (const path of [`/exports/all/all.${format}`, `/api.php?format=${format}&limit=2`])
        expect((await get(path)).headers["content-type"]).toBe(`${type}; charset=utf-8`);
    }
    for (const { path, mediaType } of release.manifest.files) {
      const { headers } = await get(`/${path}`, {}, "HEAD");
      expect(headers["content-type"]).toBe(mediaType);
      expect(headers["content-type"]).toMatch(/^[a-z]+\/[a-z0-9.+-]+/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
  });

  it("by a file name of ours, never a visitor's text", async () => {
    const disposition = async (search: string): Promise<string> =>
      String((await get(`/api.php?${search}`)).headers["content-disposition"]);
    expect(await disposition("format=gpx&type_lieu=5")).toBe('attachment; filename="places-all-5.gpx"');
    const slug = release.manifest.regions.find(({ name }) => name === "日本")?.slug;
    expect(await disposition(`format=kml&region=${encodeURIComponent("日本")}`)).toBe(
      `attachment; filename="places-${slug}-all.kml"`,
    );
    expect(await disposition("region=%22%0d%0aX-Evil:1")).not.toMatch(/evil/i);
    expect(await disposition("format=geojson")).toMatch(/^inline/);
  });

  it("by what a page may load, and who may frame it; other files need no such rule", async () => {
    for (const { path, mediaType } of release.manifest.files) {
      const policy = (await get(`/${path}`, {}, "HEAD")).headers["content-security-policy"];
      if (mediaType.startsWith("text/html")) {
        expect(policy, path).toMatch(/(^|; )default-src 'none'|(^|; )default-src 'self'/);
        expect(policy, path).toContain("frame-ancestors");
        expect(policy, path).not.toMatch(/script-src[^;]*'unsafe-/);
      } else expect(policy, path).toBeUndefined();
    }
    expect((await get("/")).headers["content-security-policy"]).toContain("frame-ancestors");
  });

  it("by how long it may be kept", async () => {
    const kept = async (path: string): Promise<string | undefined> =>
      (await get(path)).headers["cache-control"];
    expect(await kept(FILE)).toBe(STABLE);
    expect(await kept("/api.php?limit=1")).toBe(STABLE);
    expect(await kept("/manifest.json")).toBe("no-cache");
    for (const path of ["/nothing", "/api.php?limit=x"])
      expect(Number(/^public, max-age=(\d+)$/.exec((await kept(path)) ?? "")?.[1])).toBeLessThanOrEqual(60);
  });
});

describe("errors", () => {
  it("name all faults of a request together: what came, what is accepted, an example", async () => {
    const reply = await get("/api.php?format=xls&bbox=43,0,42,1&type_lieu=9&limit=0&offset=-1&region=");
    const { errors = [] } = expectProblem(reply, 400);
    expect(errors.map(({ parameter }) => parameter).sort()).toEqual(
      ["bbox", "format", "limit", "offset", "region", "type_lieu"].sort(),
    );
    for (const error of errors) {
      expect(error).toMatchObject({ value: expect.any(String), expected: expect.any(String) });
      expect(error["example"]).toMatch(new RegExp(`^${error["parameter"]}=`));
    }
    expect(errors.find(({ parameter }) => parameter === "limit")).toMatchObject({ value: "0" });
  });

  it("repeat no more than a little of what came", async () => {
    const reply = await get(`/api.php?format=${"x".repeat(5000)}`);
    expectProblem(reply, 400);
    expect(reply.body.length).toBeLessThan(1000);
  });

  it("are 404 where nothing is", async () => {
    for (const path of [
      "/nothing",
      "/exports/all/8.gpx",
      "/exports/",
      "/api.php/",
      "/API.PHP",
      "/exports",
      "/index",
    ])
      expectProblem(await get(path), 404);
  });
});

describe("what the operator added to the folder", () => {
  it("is served, with its type", async () => {
    const reply = await get("/robots.txt", { range: "bytes=0-0" });
    expect(reply.text).toBe("User-agent: *\n");
    expect(reply.headers["content-type"]).toMatch(/^text\/plain/);
    expectCommonHeaders(reply);
    expect((await get("/robots.txt", {}, "HEAD")).body).toHaveLength(0);
    expect((await get("/robots.txt", {}, "POST")).status).not.toBe(200);
  });

  it("is not served when its name begins with a dot", async () => {
    for (const path of ["/.htpasswd", "/.git/config", "/%2ehtpasswd", "/./.htpasswd"]) {
      const reply = await get(path);
      expect(reply.status, path).toBe(404);
      expect(reply.text).not.toContain("secret");
    }
  });
});

it("an address in absolute form is the same address", async () => {
  // RFC 9112, 3.2.2: a server must accept it.
  expect(statusOf(await rawGet(server.address, `${server.address}/manifest.json`))).toBe(200);
  expect(await rawGet(server.address, "http://other.example/api.php?format=json&limit=1")).toContain(
    '"name"',
  );
});
