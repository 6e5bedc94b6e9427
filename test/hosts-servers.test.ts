import { createHash } from "node:crypto";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { formsOf, readManifest } from "../src/release/manifest.js";
import { ask, decoded } from "./setup/http.js";
import { intendedHeaders } from "./setup/intended.js";
import { madePlaces } from "./setup/madeplaces.js";
import { type BuiltRelease, buildRelease, builtFor } from "./setup/release.js";
import { serve } from "./setup/serve.js";
import { isInstalled, startCaddy, startNginx } from "./setup/webservers.js";

/** The servers that can be had here, each with the settings that `build --host` writes for it. */
const servers = {
  nginx: (site: string) => startNginx(site, `include ${join(site, "deploy/nginx.conf")};`),
  caddy: (site: string) => startCaddy(site, `import ${join(site, "deploy/Caddyfile")}`),
} as const;
const names = ["nginx", "caddy"] as const;

let release: BuiltRelease;
let ours: string;

beforeAll(async () => {
  release = await buildRelease(madePlaces(60).map((place) => ({ ...place, region: "" })));
  ours = (await serve(release.site)).address;
});

describe.each(names)("%s with the settings of the release", (name) => {
  const isThere = isInstalled(name);
  let site: string;
  let address: string;

  beforeAll(async () => {
    if (!isThere) return;
    site = await builtFor(release, name);
    address = await servers[name](site);
  });

  it.skipIf(!isThere)(
    "sends every path as it is published, with just the headers that are intended",
    async () => {
      const { manifest } = readManifest(site);
      const sums = new Map([...formsOf(manifest)].map(({ path, sha256 }) => [`/${path}`, sha256]));
      const intended = intendedHeaders(manifest);
      expect(sums.size).toBeGreaterThan(300);
      for (const [path, sum] of sums) {
        const { status, headers, body } = await ask(address + path, { "Accept-Encoding": "identity" });
        const isShortened = status === 308; // Caddy sends /index.html to /
        const page = isShortened ? await ask(address + path.replace(/index\.html$/, "")) : { headers, body };
        expect(createHash("sha256").update(page.body).digest("hex"), path).toBe(sum);
        expect(page.headers, path).toMatchObject(intended.get(path) ?? {});
        expect(page.headers["content-encoding"], path).toBeUndefined();
      }
      const manifestReply = await ask(`${address}/manifest.json`);
      expect(manifestReply.headers).toMatchObject(intended.get("/manifest.json") ?? {});
      const root = await ask(`${address}/`);
      expect(root.headers).toMatchObject(intended.get("/") ?? {});
    },
  );

  it.skipIf(!isThere)("hands out the compressed forms that were built, and says that they vary", async () => {
    const path = "/exports/all/all.geojson";
    const plain = (await ask(`${ours}${path}`, { "Accept-Encoding": "identity" })).body;
    for (const coding of name === "nginx" ? ["gzip"] : ["gzip", "br"]) {
      const reply = await ask(address + path, { "Accept-Encoding": coding });
      expect(reply.headers["content-encoding"]).toBe(coding);
      expect(reply.headers["content-type"]).toBe("application/geo+json");
      expect(reply.headers["vary"]).toMatch(/accept-encoding/i);
      expect(decoded(reply).equals(plain)).toBe(true);
      const ending = coding === "br" ? ".br" : ".gz";
      expect((await ask(address + path + ending)).body.equals(reply.body)).toBe(true);
    }
  });

  it.skipIf(!isThere)(
    "says 404 for what is not there, so that pages of other sites see it and no cache keeps it",
    async () => {
      for (const path of ["/tiles/9/0/0.pbf", "/exports/nowhere/all.gpx", "/api.php?bbox=0,42,1,43"]) {
        const { status, headers } = await ask(address + path, { Origin: "https://map.example.org" });
        expect([path, status]).toEqual([path, 404]);
        expect([path, headers["access-control-allow-origin"]]).toEqual([path, "*"]);
        expect([path, headers["cache-control"]]).toEqual([path, undefined]);
      }
    },
  );

  it.skipIf(!isThere)("hands api.php on to a server, question and all", async () => {
    const forwarding = await servers[name](await builtFor(release, name, `${ours}/api.php`));
    for (const question of ["?bbox=0,42,1,43&format=geojson", "?format=nonsense", "?format=gpx&limit=3"]) {
      const [there, here] = [
        await ask(`${forwarding}/api.php${question}`),
        await ask(`${ours}/api.php${question}`),
      ];
      expect([there.status, there.body.equals(here.body)]).toEqual([here.status, true]);
      expect(there.headers["content-type"]).toBe(here.headers["content-type"]);
      expect(there.headers["access-control-allow-origin"]).toBe("*");
    }
  });
});
