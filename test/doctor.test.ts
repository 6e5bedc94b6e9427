import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../src/publish/checks/check.js";
import { diagnose } from "../src/publish/doctor.js";
import { runCli } from "./setup/cli.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, builtFor } from "./setup/release.js";
import { serve } from "./setup/serve.js";
import { reply, type Spoiling, spoil, withHeaders, without } from "./setup/spoiling.js";
import { isInstalled, startCaddy, startNginx, startPython, startSirv } from "./setup/webservers.js";

let release: BuiltRelease;
let good: string;

beforeAll(async () => {
  release = await buildRelease(madePlaces(60).map((place) => ({ ...place, region: "" })));
  good = (await serve(release.site)).address;
});

async function examine(url: string): Promise<readonly Finding[]> {
  return (await diagnose(url, () => {})).findings;
}

/** All that is not right, as text. */
function faultsOf(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ verdict }) => verdict !== "right")
    .map(({ verdict, about }) => `${verdict}: ${about}`);
}

describe("doctor finds nothing wrong", () => {
  it("with our own server, whichever way its address is written", async () => {
    for (const url of [good, `${good}/`, `${good}/manifest.json`, `${good}/index.html?x=1`]) {
      const findings = await examine(url);
      expect(faultsOf(findings)).toEqual([]);
      expect(findings.length).toBeGreaterThan(25);
    }
  });

  it.skipIf(!isInstalled("nginx"))("with nginx and the settings of the release", async () => {
    const site = await builtFor(release, "nginx");
    const address = await startNginx(site, `include ${join(site, "deploy/nginx.conf")};`);
    expect(faultsOf(await examine(address))).toEqual(["absent: brotli", "absent: api.php"]);
  });

  it.skipIf(!isInstalled("nginx"))("with nginx that hands api.php on to our server", async () => {
    const site = await builtFor(release, "nginx", `${good}/api.php`);
    const address = await startNginx(site, `include ${join(site, "deploy/nginx.conf")};`);
    expect(faultsOf(await examine(address))).toEqual(["absent: brotli"]);
  });

  it.skipIf(!isInstalled("caddy"))("with Caddy and the settings of the release", async () => {
    const site = await builtFor(release, "caddy");
    const address = await startCaddy(site, `import ${join(site, "deploy/Caddyfile")}`);
    expect(faultsOf(await examine(address))).toEqual(["absent: api.php"]);
  });
});

describe("doctor finds what is broken", () => {
  /** A line for each fault, however many files have it. */
  const kindsOf = async (address: string): Promise<string[]> =>
    [...new Set(faultsOf(await examine(address)))].sort();
  const plain = [
    "absent: api.php",
    "broken: any origin (CORS)",
    "broken: cache rule",
    "broken: content type",
  ];
  const elsewhere = "broken: missing file, any origin";

  it.skipIf(!isInstalled("nginx"))("with nginx as it is installed", async () => {
    const faults = await kindsOf(await startNginx(release.site, ""));
    expect(faults).toEqual([...plain, "absent: brotli", "broken: gzip", elsewhere].sort());
  });

  it.skipIf(!isInstalled("caddy"))("with Caddy as it is installed", async () => {
    const faults = await kindsOf(await startCaddy(release.site, "file_server"));
    expect(faults).toEqual([...plain, "absent: brotli", "broken: gzip", elsewhere].sort());
  });

  it.skipIf(!isInstalled("python3"))("with Python's http.server", async () => {
    const faults = await kindsOf(await startPython(release.site));
    const more = ["absent: brotli", "broken: gzip", "broken: ranges", "broken: ETag", elsewhere];
    expect(faults).toEqual([...plain, ...more].sort());
  });

  it("with sirv as it is", async () => {
    const faults = await kindsOf(await startSirv(release.site));
    const more = ["broken: compressed form", "broken: range at the end", "danger: If-Range", elsewhere];
    expect(faults).toEqual([...plain, ...more].sort());
  });

  const page = reply(200, { "content-type": "text/html" }, "<!doctype html>page");
  const isFile = (url: string): boolean => url.startsWith("/exports/");
  const spoilings: Readonly<Record<string, Spoiling & { readonly finds: readonly string[] }>> = {
    "a page for every unknown address": {
      after: (answer) => (answer.status === 404 ? page : answer),
      finds: ["danger: missing file"],
    },
    "a page for api.php": {
      before: (asked) => (asked.url.startsWith("/api.php") ? page : asked),
      finds: ["danger: api.php"],
    },
    "api.php that ignores its question": {
      before: (asked) =>
        asked.url.startsWith("/api.php") ? { ...asked, url: "/exports/all/all.json" } : asked,
      finds: ["danger: api.php", "broken: api.php, same places", "broken: api.php, wrong question"],
    },
    "no api.php": {
      before: (asked) => (asked.url.startsWith("/api.php") ? reply(404, {}, "") : asked),
      finds: ["absent: api.php"],
    },
    "another generation behind api.php": {
      after: (answer, { url }) =>
        url.startsWith("/api.php") ? withHeaders(answer, { "ogc-numbermatched": "3" }) : answer,
      finds: ["danger: api.php, same places"],
    },
    "files that are a year fresh": {
      after: (answer, { url }) =>
        isFile(url)
          ? withHeaders(answer, { "cache-control": "public, max-age=31536000, immutable" })
          : answer,
      finds: ["danger: cache rule"],
    },
    "a manifest that is a day fresh": {
      after: (answer, { url }) =>
        url === "/manifest.json" ? withHeaders(answer, { "cache-control": "max-age=86400" }) : answer,
      finds: ["danger: cache rule"],
    },
    "no cache rules": {
      after: (answer) => withHeaders(answer, { "cache-control": null }),
      finds: ["broken: cache rule"],
    },
    "304 for everything": {
      after: (answer, { headers }) => (headers["if-none-match"] === undefined ? answer : reply(304, {}, "")),
      finds: ["danger: If-None-Match, changed"],
    },
    "never 304": {
      before: (asked) => without(asked, "if-none-match", "if-modified-since"),
      finds: ["broken: If-None-Match, unchanged"],
    },
    "no ETag": {
      after: (answer) => withHeaders(answer, { etag: null }),
      finds: ["broken: ETag"],
    },
    "one strong ETag for all codings": {
      after: (answer) => withHeaders(answer, { etag: '"the same"' }),
      finds: ["broken: ETag of each coding"],
    },
    "no ranges": {
      before: (asked) => without(asked, "range"),
      finds: ["broken: ranges"],
    },
    "ranges of wrong bytes": {
      after: (answer) =>
        answer.status === 206 ? { ...answer, body: Buffer.alloc(answer.body.length, 120) } : answer,
      finds: ["danger: ranges", "broken: range at the end"],
    },
    "If-Range that is not looked at": {
      before: (asked) => without(asked, "if-range"),
      finds: ["danger: If-Range"],
    },
    "no compression": {
      before: (asked) => without(asked, "accept-encoding"),
      finds: ["broken: gzip", "absent: brotli"],
    },
    "compression unasked": {
      after: (answer, { url }) =>
        isFile(url) && answer.status === 200 && answer.headers["content-encoding"] === undefined
          ? { ...withHeaders(answer, { "content-encoding": "gzip" }), body: gzipSync(answer.body) }
          : answer,
      finds: ["danger: plain when asked"],
    },
    "gzip of something else": {
      after: (answer) =>
        answer.headers["content-encoding"] === "gzip" ? { ...answer, body: gzipSync("else") } : answer,
      finds: ["danger: gzip"],
    },
    "no Vary": {
      after: (answer) => withHeaders(answer, { vary: null }),
      finds: ["broken: Vary"],
    },
    "a .gz that is to be unpacked": {
      after: (answer, { url }) =>
        url.endsWith(".gz") ? withHeaders(answer, { "content-encoding": "gzip" }) : answer,
      finds: ["broken: compressed form"],
    },
    "altered bytes": {
      after: (answer, { url }) =>
        url.endsWith(".csv") ? { ...answer, body: Buffer.concat([answer.body, Buffer.from("x")]) } : answer,
      finds: ["danger: content"],
    },
    "wrong media types": {
      after: (answer, { url }) =>
        url.endsWith(".gpx") ? withHeaders(answer, { "content-type": "text/plain" }) : answer,
      finds: ["broken: content type"],
    },
    "text without its charset": {
      after: (answer, { url }) =>
        url.endsWith(".csv") ? withHeaders(answer, { "content-type": "text/csv" }) : answer,
      finds: ["broken: content type"],
    },
    "no other origin": {
      after: (answer) => withHeaders(answer, { "access-control-allow-origin": null }),
      finds: ["broken: any origin (CORS)", "broken: missing file, any origin"],
    },
    "no other origin where something is missing": {
      after: (answer) =>
        answer.status === 404 ? withHeaders(answer, { "access-control-allow-origin": null }) : answer,
      finds: ["broken: missing file, any origin"],
    },
    "Cloudflare that does not keep files": {
      after: (answer) => withHeaders(answer, { "cf-cache-status": "DYNAMIC" }),
      finds: ["broken: Cloudflare's cache"],
    },
  };

  it.each(Object.keys(spoilings))("%s", async (name) => {
    const { finds, ...spoiling } = spoilings[name] ?? { finds: [] };
    const faults = faultsOf(await examine(await spoil(good, spoiling)));
    for (const expected of finds) expect(faults).toContain(expected);
    const dangers = (list: readonly string[]): string[] => [
      ...new Set(list.filter((fault) => fault.startsWith("danger"))),
    ];
    if (dangers(finds).length === 0) expect(dangers(faults)).toEqual([]);
  });
});

describe("shelters doctor", () => {
  it("prints a table and ends with 0 where nothing endangers readers", async () => {
    const run = await runCli(["doctor", good]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/right +ranges/);
    expect(run.stderr).toMatch(/0 broken, 0 dangerous/);
  });

  it("ends with 5 and says what it breaks where something endangers readers; --json says all of it", async () => {
    const address = await spoil(good, {
      after: (answer) => ({ ...answer, status: answer.status === 404 ? 200 : answer.status }),
    });
    const run = await runCli(["--json", "doctor", address]);
    expect(run.code).toBe(5);
    expect(run.stderr).toMatch(/an unknown address must be 404/);
    const { findings } = JSON.parse(run.stdout) as { readonly findings: readonly Finding[] };
    expect(faultsOf(findings)).toEqual(["danger: missing file"]);
  });

  it("says when there is no release, no server, or no address", async () => {
    const nothing = await runCli(["doctor", `${good}/exports/`]);
    expect([nothing.code, nothing.stderr]).toEqual([5, expect.stringMatching(/status 404/)]);
    const nobody = await runCli(["doctor", "http://127.0.0.1:9/"]);
    expect([nobody.code, nobody.stderr]).toEqual([3, expect.stringMatching(/does not answer/)]);
    expect((await runCli(["doctor", "ftp://example.org"])).code).toBe(2);
  });
});
