import { rmSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type PullOptions, pull } from "../src/pull/pull.js";
import { temporaryFolder } from "./setup/folders.js";
import { contentHash } from "./setup/stored.js";
import { type Fault, type Feature, startUpstream, type Upstream } from "./setup/upstream.js";

const COUNT = 120;
let upstream: Upstream;
let database: string;

beforeAll(async () => {
  database = join(temporaryFolder(), "places.sqlite");
  upstream = await startUpstream({ count: COUNT + 1 });
  upstream.places.pop(); // 120 places, none of them a round number of a page
  await pullNow({});
});
afterEach(() => {
  upstream.faults.length = 0;
  upstream.always = null;
  upstream.edit = () => {};
  rmSync(`${database}-pull`, { force: true });
});
afterAll(() => upstream.close());

function pullNow(options: Partial<PullOptions>) {
  return pull({
    from: upstream.address,
    database,
    force: false,
    about: {},
    onProgress: () => {},
    ...options,
    limits: { pause: 1, attempts: 3, stall: 150, request: 1000, ...options.limits },
  });
}

const answer =
  (status: number, headers: Record<string, string>, body: string | Buffer): Fault =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
    return undefined;
  };

const cutOff: Fault = (_request, response, body) => {
  response.writeHead(200, { "Content-Length": String(body.length) });
  response.write(body.slice(0, 500));
  setTimeout(() => response.destroy(), 20);
  return undefined;
};

const halfDocument: Fault = (_request, response, body) => {
  response.end(body.slice(0, body.length / 2));
  return undefined;
};

const stalled: Fault = (_request, response, body) => {
  response.writeHead(200, { "Content-Length": String(body.length) });
  response.write(body.slice(0, 500));
  return undefined;
};

const silent: Fault = () => undefined;

const trickle: Fault = (_request, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(" "), 50);
  response.on("close", () => clearInterval(timer));
  return undefined;
};

const latin1: Fault = (_request, response, body) => {
  response.end(Buffer.from(body.replaceAll("\\u00e0", "\u{e0}").replaceAll("\\u00f2", "\u{f2}"), "latin1"));
  return undefined;
};

// Made once: packing them takes longer than a request may.
const gzipBytes = gzipSync(Buffer.alloc(50_000_000, " "));
const brotliBytes = brotliCompressSync(Buffer.alloc(50_000_000, " "), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
});

const bomb: Fault = (_request, response) => {
  response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipBytes);
  return undefined;
};

const brotliBomb: Fault = (_request, response) => {
  response.writeHead(200, { "Content-Encoding": "br" }).end(brotliBytes);
  return undefined;
};

const loop: Fault = (request, response) => {
  response.writeHead(302, { Location: `${request.url}&again` }).end();
  return undefined;
};

function swap({ geometry }: Pick<Feature, "geometry">): void {
  if (Array.isArray(geometry?.coordinates)) geometry.coordinates.reverse();
}

const lasting: readonly (readonly [string, Fault, RegExp])[] = [
  [
    "HTML with status 200",
    answer(200, {}, "<!doctype html><p>Too many connections"),
    /HTML or XML .*Too many connections/,
  ],
  ["a connection that breaks", cutOff, /cannot be read after 3 attempts/],
  ["half a document", halfDocument, /cut off/],
  ["a body that stalls", stalled, /cannot be read after 3 attempts/],
  ["no answer at all", silent, /cannot be read after 3 attempts/],
  ["a body that trickles for ever", trickle, /it took too long/],
  ["an empty body", answer(200, {}, ""), /its answer is empty/],
  ["JSON of another kind", answer(200, {}, '{"error":"quota"}'), /no GeoJSON FeatureCollection .*quota/],
  ["status 500", answer(500, {}, "Internal error"), /500 .*Internal error/],
  ["status 429 without end", answer(429, { "Retry-After": "0" }, "slow down"), /429/],
  ["a Retry-After of an hour", answer(503, { "Retry-After": "3600" }, ""), /asks to wait 3600 s: too long/],
  ["status 404", answer(404, {}, "no such page"), /404 .*no such page/],
  ["a redirect loop", loop, /redirects more than 5 times/],
  [
    "a redirect to a file",
    answer(302, { Location: "file:///etc/passwd" }, ""),
    /redirects to "file:.*not followed/,
  ],
  ["text that is not UTF-8", latin1, /not UTF-8/],
  ["a gzip bomb", bomb, /longer than 5000000 bytes once decoded/],
  ["a brotli bomb", brotliBomb, /longer than 5000000 bytes once decoded/],
  [
    "positions that are not in WGS84",
    answer(200, {}, '{"type":"FeatureCollection","crs":{"properties":{"name":"EPSG:4230"}},"features":[]}'),
    /positions in "EPSG:4230", not in WGS84/,
  ],
  [
    "a page that lacks what the service says it has",
    answer(200, { "OGC-NumberMatched": "120" }, '{"type":"FeatureCollection","features":[]}'),
    /says that it has 120 places, and sends none behind the first 0/,
  ],
  ["an empty collection", answer(200, {}, '{"type":"FeatureCollection","features":[]}'), /no usable place/],
];

describe("a service that fails for good", () => {
  test.each(lasting)(
    "%s: the message says what came from where, and the places stay",
    async (_name, fault, message) => {
      const before = contentHash(database);
      upstream.always = fault;
      const error = await pullNow({ limits: { bytes: 5_000_000 } }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "UserError", message: expect.stringMatching(message) });
      expect((error as Error).message).toMatch(/The places pulled before are kept/);
      if (!message.source.includes("usable")) expect((error as Error).message).toContain(upstream.address);
      expect(contentHash(database)).toBe(before);
    },
  );

  test("a dead service: connection refused", async () => {
    const other = await startUpstream({ count: 1 });
    await other.close();
    await expect(pullNow({ from: other.address })).rejects.toMatchObject({
      code: "source",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("the whole pull ends at its deadline", async () => {
    upstream.always = silent;
    const started = performance.now();
    await expect(pullNow({ limits: { deadline: 400, stall: 5000, request: 5000 } })).rejects.toMatchObject({
      code: "source",
      message: expect.stringMatching(/the pull took longer than/),
    });
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test("it is asked no more often than the attempts allow, and a refusal is not repeated", async () => {
    for (const [fault, times] of [
      [answer(500, {}, ""), 3],
      [answer(403, {}, ""), 1],
    ] as const) {
      upstream.requests.length = 0;
      upstream.always = fault;
      await expect(pullNow({})).rejects.toThrow();
      expect(upstream.requests).toHaveLength(times);
    }
  });
});

describe("a service that recovers", () => {
  test.each(lasting.filter(([name]) => !/404|redirect|bomb|hour|collection|WGS84/.test(name)))(
    "%s, then the right answer: nothing is missing",
    async (_name, fault) => {
      const retries: string[] = [];
      upstream.faults.push(fault, fault);
      const report = await pullNow({ onRetry: (text) => retries.push(text) });
      expect(report.places).toBe(COUNT);
      expect(retries).toHaveLength(2);
      expect(retries[0]).toContain(upstream.address);
    },
  );

  test("Retry-After is waited for", async () => {
    upstream.faults.push(answer(429, { "Retry-After": "1" }, ""));
    const started = performance.now();
    await pullNow({});
    expect(performance.now() - started).toBeGreaterThan(1000);
  });

  test("a byte order mark before the document is no fault", async () => {
    upstream.always = (_request, response, body) => {
      response.end(`\uFEFF${body}`);
      return undefined;
    };
    expect((await pullNow({})).places).toBe(COUNT);
  });

  test("redirects are followed", async () => {
    upstream.faults.push((request, response) => {
      response.writeHead(301, { Location: `${request.url}&moved=1` }).end();
      return undefined;
    });
    expect((await pullNow({})).places).toBe(COUNT);
  });
});

describe("bad records", () => {
  const broken: readonly (readonly [string, (feature: Feature) => void, string])[] = [
    ["swapped coordinates", swap, "coordinates look swapped"],
    [
      "no geometry",
      (feature) => {
        feature.geometry = null;
      },
      "bad coordinates",
    ],
    [
      "0/0",
      (feature) => {
        feature.geometry = { type: "Point", coordinates: [0, 0] };
      },
      "bad coordinates",
    ],
    [
      "no id in the address",
      ({ properties }) => {
        properties["url"] = "http://example.org/";
      },
      "no id",
    ],
    [
      "a megabyte of text",
      ({ properties }) => {
        properties["descriptif"] = "x".repeat(1_000_000);
      },
      "text too long",
    ],
  ];

  test.each(broken)("%s: refused with the reason, the rest goes on", async (_name, spoil, reason) => {
    upstream.edit = (feature) => {
      if (/=(17|18|19)$/.test(String(feature.properties["url"]))) spoil(feature);
    };
    const report = await pullNow({});
    expect(report.refused).toEqual({ [reason]: 3 });
    expect(report.places).toBe(COUNT - 3);
    expect(report.refusals).toHaveLength(3);
  });

  test("too many of them fail the pull, and the places stay", async () => {
    await pullNow({});
    const before = contentHash(database);
    upstream.edit = ({ geometry, properties }) => {
      if (/[05]$/.test(String(properties["url"]))) swap({ geometry });
    };
    await expect(pullNow({})).rejects.toMatchObject({
      code: "refused",
      details: expect.arrayContaining([expect.stringMatching(/swapped/)]),
    });
    expect(contentHash(database)).toBe(before);
  });
});
