/** The settings of scripts/deploy, with the programs that they are for. */

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./setup/folders.js";
import { ask, linksOf, type Reply } from "./setup/http.js";
import { madePlaces } from "./setup/madeplaces.js";
import { buildRelease } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";
import { isInstalled, startCaddyWith, startNginxWith } from "./setup/webservers.js";

const FILE = "/exports/all/all.geojson";
const deployed = (name: string): string => readFileSync(`scripts/deploy/${name}`, "utf8");
let server: TestServer;

beforeAll(async () => {
  const { site } = await buildRelease(madePlaces(150, 5));
  server = await serve(site, { trustProxy: true });
});

/** The text with a part of it replaced, which must be there. */
function replaced(text: string, ...pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((done, [from, to]) => {
    expect(done).toContain(from);
    return done.replaceAll(from, to);
  }, text);
}

/** What goes through a proxy unchanged, and what only a proxy can say. */
async function expectManners(get: typeof ask, front: string): Promise<void> {
  for (const coding of ["identity", "gzip", "br"]) {
    const [direct, through] = await Promise.all([
      ask(server.address + FILE, { "accept-encoding": coding }),
      get(front + FILE, { "accept-encoding": coding }),
    ]);
    expect(through.body.equals(direct.body)).toBe(true);
    for (const name of ["etag", "content-encoding", "cache-control", "vary", "access-control-allow-origin"])
      expect(through.headers[name], name).toBe(direct.headers[name]);
    const etag = String(direct.headers.etag);
    expect((await get(front + FILE, { "accept-encoding": coding, "if-none-match": etag })).status).toBe(304);
  }
  expect((await get(front + FILE, { range: "bytes=5-9" })).body).toHaveLength(5);
  const box = "/api.php?format=csv&bbox=-2,42,4,44&limit=20&offset=20";
  const cut = await get(front + box, { "accept-encoding": "gzip" });
  expect(cut.headers["content-encoding"]).toBe("gzip");
  expect(linksOf(cut).get("next")).toBe(
    `${front}${box.replace("offset=20", "offset=40").replaceAll(",", "%2C")}`,
  );
  expect((await get(`${front}/api.php`, {}, "POST")).status).toBe(405);
  expect((await get(`${front}/api.php?limit=x`)).headers["content-type"]).toBe("application/problem+json");
}

describe("in front of the server", () => {
  it.skipIf(!isInstalled("nginx"))(
    "nginx with TLS passes everything on, and keeps health to itself",
    async () => {
      const folder = temporaryFolder();
      const [certificate, key] = [join(folder, "huts.pem"), join(folder, "huts.key")];
      const subject = ["-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", certificate];
      execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject], {
        stdio: "ignore",
      });
      const front = await startNginxWith((port) =>
        replaced(
          deployed("nginx.conf"),
          ["127.0.0.1:8080", new URL(server.address).host],
          ["listen 8443 ssl", `listen 127.0.0.1:${port} ssl`],
          ["/etc/ssl/huts.pem", certificate],
          ["/etc/ssl/huts.key", key],
        ),
      );
      const secure = front.replace("http:", "https:");
      await expectManners(askSecurely, secure);
      expect((await askSecurely(`${secure}/healthz`)).status).toBe(200); // from here it is allowed
    },
  );

  it.skipIf(!isInstalled("caddy"))("Caddy passes everything on", async () => {
    const front = await startCaddyWith((port) =>
      replaced(
        deployed("Caddyfile"),
        ["127.0.0.1:8080", new URL(server.address).host],
        ["\nhuts.example.org {", `\nhttp://127.0.0.1:${port} {`],
      ),
    );
    await expectManners(ask, front);
  });
});

it("the systemd unit is accepted by systemd", (context) => {
  context.skip(spawnSync("systemd-analyze", ["--version"]).status !== 0, "systemd-analyze is not installed");
  const unit = join(temporaryFolder(), "shelters.service");
  writeFileSync(unit, replaced(deployed("shelters.service"), ["/usr/bin/node", process.execPath]));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  // It looks at the units of the machine too: only what it says of ours counts.
  expect(stderr.split("\n").filter((line) => line.includes("shelters.service"))).toEqual([]);
  expect(status).toBe(0);
});

it("the image is made of files that are there, for a user without rights", () => {
  const dockerfile = deployed("Dockerfile");
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) =>
    from.split(" "),
  );
  expect(copied.length).toBeGreaterThan(4);
  for (const path of copied) expect(spawnSync("test", ["-e", path]).status, path).toBe(0);
  expect(dockerfile).toMatch(/^USER node$/m);
});

/** `ask` over TLS, whoever signed the certificate. */
const askSecurely: typeof ask = (url, headers = {}, method = "GET") =>
  new Promise<Reply>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const body = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: body.toString() });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
