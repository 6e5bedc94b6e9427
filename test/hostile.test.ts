import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closed, openSocket, rawGet, sendRaw, statusOf } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { buildRelease } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

let server: TestServer;

beforeAll(async () => {
  const { folder, site } = await buildRelease(madePlaces(60, 9));
  writeFileSync(join(folder, "public", "outside.txt"), "root:secret");
  writeFileSync(join(folder, "outside.txt"), "root:secret");
  server = await serve(site);
});

// Whatever was sent: the server is alive, and saw no fault of its own.
afterAll(async () => {
  expect(statusOf(await rawGet(server.address, "/manifest.json"))).toBe(200);
  expect(server.lines).toEqual([]);
});

const ALLOWED = [200, 204, 304, 400, 404, 405, 414, 431];

describe("no request leaves the release", () => {
  const up = [
    "..",
    "%2e%2e",
    "%2E.",
    "..%2f..",
    "%252e%252e",
    "..\\..",
    "..%5c..",
    "..;",
    "....//",
    "%c0%ae%c0%ae",
  ];
  const tails = ["outside.txt", "data/places.sqlite", "etc/passwd"];

  it.each(up)("by %s", async (dots) => {
    for (const tail of tails) {
      for (const path of [
        `/${dots}/${tail}`,
        `/exports/${dots}/${dots}/${tail}`,
        `//${dots}/${tail}`,
        `/${dots}/${dots}/${dots}/${dots}/${dots}/${dots}/${tail}`,
        `${dots}/${tail}`,
      ]) {
        const answer = await rawGet(server.address, path);
        expect([400, 404], path).toContain(statusOf(answer));
        expect(answer).not.toContain("secret");
        expect(answer).not.toContain("root:");
      }
    }
  });

  it("by an absolute path, a drive, a device or a file address", async () => {
    for (const path of [
      "//etc/passwd",
      "/%2fetc/passwd",
      "/C:/Windows/win.ini",
      "/CON",
      "file:///etc/passwd",
    ])
      expect([400, 404], path).toContain(statusOf(await rawGet(server.address, path)));
  });
});

describe("odd bytes are answered, not suffered", () => {
  it("in the path", async () => {
    const targets: (string | Buffer)[] = [
      "/%00",
      "/manifest.json%00.html",
      "/%",
      "/%zz",
      "/%ff%fe",
      "/%ed%a0%80",
      "/%E0%A4%A",
      Buffer.from([0x2f, 0xff, 0xfe, 0x80]),
      "/é日本",
      "/__proto__",
      "/constructor",
      "/exports/__proto__/toString",
      "/\\..\\outside.txt",
      "/#fragment",
      "*",
      "?",
      "/;",
      `/${"a/".repeat(4000)}`,
      `/${"..%2f".repeat(2000)}`,
    ];
    for (const target of targets) {
      const answer = await rawGet(server.address, target);
      expect([400, 404, 414, 431], String(target).slice(0, 40)).toContain(statusOf(answer));
      expect(answer).not.toContain("secret");
    }
  });

  it("in the query", async () => {
    for (const search of [
      "%00",
      "format=%00",
      "region=%ff%fe",
      "region=%",
      "region=%ed%a0%80",
      "__proto__=1",
      "__proto__[format]=gpx&constructor=1",
      "region=__proto__",
      "region=constructor",
      "region=toString",
      "format=constructor",
      "format=__proto__",
      "type_lieu=__proto__",
      "&&&&==&=",
      "?".repeat(100),
      "bbox=1e999,NaN,Infinity,-0",
      "bbox=-0.0,-0,0,0.000",
      `bbox=${"9".repeat(5000)},0,1,1`,
      `bbox=0.${"0".repeat(5000)}1,0,1,1`,
      "limit=１０",
      "limit=99999999999999999999&offset=1e3",
      `region=${"%F0%9F%8F%94".repeat(600)}`,
      "format=json&limit=1&x=".concat("%".repeat(3000)),
    ])
      expect([200, 400], search.slice(0, 40)).toContain(
        statusOf(await rawGet(server.address, `/api.php?${search}`)),
      );
  });

  it("a query of 16 KB and more is refused with 431 or 414", async () => {
    for (const length of [16_384, 20_000, 200_000])
      expect([414, 431]).toContain(
        statusOf(await rawGet(server.address, `/api.php?region=${"x".repeat(length)}`)),
      );
    expect(statusOf(await rawGet(server.address, `/api.php?region=${"x".repeat(12_000)}`))).toBe(200);
    expect(statusOf(await rawGet(server.address, "/", `X-Long: ${"x".repeat(20_000)}\r\n`))).toBe(431);
  });

  it("line breaks in values never become header lines or log lines", async () => {
    for (const value of [
      "a%0d%0aX-Evil:%201",
      "a%0aX-Evil:1",
      "%E5%98%8A%E5%98%8DX-Evil:1",
      "%0d%0a%0d%0a<script>",
    ]) {
      for (const target of [`/api.php?region=${value}&limit=1`, `/api.php?format=${value}`, `/${value}`]) {
        const answer = await rawGet(server.address, `${target}&offset=1`);
        const head = answer.slice(0, answer.indexOf("\r\n\r\n"));
        expect(
          head.split("\r\n").some((line) => /^x-evil|^<script/i.test(line)),
          target,
        ).toBe(false);
        expect(head).not.toMatch(/\n[^\r]*\n/);
      }
    }
    expect(server.lines).toEqual([]);
  });

  it("what is no HTTP gets 400 and is cut off", async () => {
    for (const bytes of [
      "hello\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ]) {
      const answer = await sendRaw(server.address, bytes);
      expect(statusOf(answer), JSON.stringify(bytes)).toBe(400);
      expect(answer).toMatch(/^access-control-allow-origin: \*\r$/im);
    }
  });

  it("a tunnel is refused, and an unknown expectation is passed over", async () => {
    expect(
      statusOf(await sendRaw(server.address, "CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n")),
    ).toBe(405);
    // One that is reset in the same moment: nobody else may notice.
    for (let number = 0; number < 20; number++) {
      const socket = await openSocket(server.address);
      socket.write("CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n", () => socket.resetAndDestroy());
      await closed(socket);
    }
    const answer = await rawGet(server.address, "/terms.txt", "Expect: a-cup-of-tea\r\n");
    expect(statusOf(answer)).toBe(200);
    expect(answer).toMatch(/^access-control-allow-origin: \*/im);
  });

  it("a body that nobody asked for is passed over", async () => {
    const body = "x".repeat(100_000);
    const head = `GET /api.php?limit=1&format=json HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    expect(statusOf(await sendRaw(server.address, head + body))).toBe(200);
  });
});

describe("any text at all", () => {
  const target = (bytes: Uint8Array): Buffer =>
    // No spaces or line ends: they would end the request line; everything else goes as it is.
    Buffer.from([0x2f, ...bytes].map((byte) => (byte <= 0x20 || byte === 0x7f ? 0x25 : byte)));

  it("as a path and query gives an answer of the expected kind", async () => {
    const pieces = fc.constantFrom(
      ..."/api.php?format=|region=|bbox=|limit=|offset=|type_lieu=|&|%|%2e|%2f|..|/|\\|,|=|-|1|0.5|1e9|gpx|CSV|all|é|日|exports|index.sqlite|.gz|manifest.json|;|+|#|__proto__".split(
        "|",
      ),
    );
    const text = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(pieces, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(""))),
      fc.array(pieces, { maxLength: 8 }).map((parts) => Buffer.from(`api.php?${parts.join("")}`)),
    );
    await fc.assert(
      fc.asyncProperty(text, async (bytes) => {
        expect(ALLOWED).toContain(statusOf(await rawGet(server.address, target(bytes))));
      }),
      { numRuns: 600 },
    );
  });

  it("as the value of a header gives an answer of the expected kind", async () => {
    const names = fc.constantFrom(
      "Accept-Encoding",
      "If-None-Match",
      "If-Modified-Since",
      "Range",
      "If-Range",
      "Origin",
      "Cache-Control",
      "Expect",
    );
    const pieces = fc.constantFrom(
      ...'bytes=|0|-|5-|,|;q=|gzip|br|*|"|W/|"abc"|identity|=|;|é|\t| |1e9|99999999999999999999'.split("|"),
    );
    const value = fc.array(pieces, { maxLength: 10 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(names, value, async (name, text) => {
        const answer = await rawGet(server.address, "/exports/all/all.json", `${name}: ${text}\r\n`);
        expect([...ALLOWED, 206, 416]).toContain(statusOf(answer));
      }),
      { numRuns: 400 },
    );
  });
});
