import { readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli, startCli } from "./setup/cli.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { buildSmall, changed, fewFiles, mirrorInto, rebuildSmall } from "./setup/mirror.js";
import { openProxy } from "./setup/proxy.js";
import { pullRecords } from "./setup/release.js";
import { serve } from "./setup/serve.js";

const places = fewFiles(120).map((place) => ({ ...place, commentaire: `${place.id} ${noise(place.id)}` }));
const upstream = await buildSmall(places);
const server = await serve(upstream.site);
const digests = digestsBelow(upstream.site);
const newSite = (): string => join(temporaryFolder(), "site");

/** Text that does not compress, so that files are long. */
function noise(seed: number): string {
  let text = "";
  for (let n = seed + 1; text.length < 400; n = Math.imul(n, 48271) >>> 0) text += n.toString(36);
  return text;
}

describe("a line that", () => {
  it.each([
    ["breaks every 30 kB", { cutEvery: 30_000 }],
    ["breaks every 6 kB", { cutEvery: 6_000 }],
    ["stalls on every fifth connection", { stallOneIn: 5, cutEvery: 200_000 }],
    ["delays pieces, so that answers overtake one another", { delay: 15 }],
    ["flips a bit every 400 kB", { flipEvery: 400_000 }],
    ["breaks, corrupts and delays", { cutEvery: 60_000, flipEvery: 500_000, delay: 3 }],
  ])("%s still brings the whole release, byte by byte", async (_line, faults) => {
    const proxy = await openProxy(server.address, faults, 7);
    const copy = newSite();
    // Some of these cut the manifest's own request: the count of tries begins anew with each thousand bytes.
    expect((await mirrorInto(copy, proxy.address)).outcome).toBe("mirrored");
    expect(digestsBelow(copy)).toEqual(digests);
  });

  it("breaks every 20 kB costs little more than a good one: files go on where they broke off", async () => {
    const good = await openProxy(server.address);
    await mirrorInto(newSite(), good.address);
    const bad = await openProxy(server.address, { cutEvery: 20_000 });
    await mirrorInto(newSite(), bad.address);
    expect(bad.connections()).toBeGreaterThan(good.connections() + 5);
    expect(bad.bytes()).toBeLessThan(good.bytes() * 1.5);
  });

  it("is slow is not made faster by --max-rate, and one that is fast is held to it", async () => {
    const proxy = await openProxy(server.address);
    const started = performance.now();
    const { fetchedBytes } = await mirrorInto(newSite(), proxy.address, { maxRate: 500_000 });
    const rate = fetchedBytes / ((performance.now() - started) / 1000);
    expect(rate).toBeLessThan(500_000 * 1.05);
  });

  it("is dead ends the run with a message, not for ever; what came is kept and used", async () => {
    const proxy = await openProxy(server.address);
    const copy = newSite();
    proxy.become({ rate: 400_000 });
    const run = mirrorInto(copy, proxy.address, { limits: { retries: 2 } });
    setTimeout(() => void proxy.close(), 1000);
    await expect(run).rejects.toMatchObject({ code: "source", message: expect.stringContaining("is kept") });
    const again = await openProxy(server.address);
    const { changed: files } = await mirrorInto(copy, again.address);
    expect(files).toBeLessThan(upstream.manifest.files.length);
    expect(digestsBelow(copy)).toEqual(digests);
  });
});

it("a source that is exchanged during the run is copied from its new manifest", async () => {
  const { site, database } = await buildSmall(fewFiles(150));
  const proxy = await openProxy((await serve(site)).address, { rate: 6_000 });
  const copy = newSite();
  await pullRecords(database, changed(fewFiles(150), 1, "exchanged"));
  const run = mirrorInto(copy, proxy.address, { limits: { stall: 5000 } });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await rebuildSmall(database, site);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  proxy.become({});
  const { lines } = await run;
  expect(digestsBelow(copy)).toEqual(digestsBelow(site));
  expect(lines.join("\n")).toContain("beginning again");
});

/** A host that answers as the test says. */
async function host(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const made: Server = createServer(answer as () => void);
  afterAll(() => made.close());
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/`;
}

describe("a plain static host", () => {
  it("without ranges, validators and most .br files is mirrored", async () => {
    const requests: string[] = [];
    const address = await host((request, response) => {
      const path = (request.url ?? "/").slice(1);
      requests.push(path);
      if (/^(exports|index|manifest).*\.(br|sig)$/.test(path)) return void response.writeHead(404).end("no");
      response.end(readFileSync(join(upstream.site, path)));
    });
    const copy = newSite();
    await mirrorInto(copy, address);
    expect(digestsBelow(copy)).toEqual(digests);
    expect((await mirrorInto(copy, address)).outcome).toBe("unchanged");
  });

  it("that unpacks .gz on the way, and has a page for everything that is missing, is mirrored", async () => {
    const address = await host((request, response) => {
      const path = (request.url ?? "/").slice(1);
      const stored = statSync(join(upstream.site, path), { throwIfNoEntry: false });
      if (stored === undefined || path.endsWith(".br")) return void response.end("<html>Not here");
      response.end(readFileSync(join(upstream.site, path.replace(/\.gz$/, ""))));
    });
    const copy = newSite();
    await mirrorInto(copy, address, { rebuild: "always" });
    const strip = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).filter(([path]) => path !== "manifest.json.sig"));
    expect(strip(digestsBelow(copy))).toEqual(digests);
  });

  it("that asks to wait is given the time it asks for", async () => {
    let refused = 0;
    const times: number[] = [];
    const address = await host((request, response) => {
      const path = (request.url ?? "/").slice(1);
      if (path === "terms.txt.br" && refused < 2) {
        refused++;
        times.push(performance.now());
        return void response.writeHead(503, { "Retry-After": "1" }).end();
      }
      if (path === "terms.txt.br") times.push(performance.now());
      const stored = statSync(join(upstream.site, path), { throwIfNoEntry: false });
      if (stored === undefined) return void response.writeHead(404).end();
      response.end(readFileSync(join(upstream.site, path)));
    });
    const copy = newSite();
    await mirrorInto(copy, address);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(2000);
    expect(digestsBelow(copy)).toEqual(digests);
  });

  it.each([
    ["redirects in a circle", 302, { Location: "/" }],
    ["forbids it", 403, {}],
    ["asks to come back tomorrow", 503, { "Retry-After": "86400" }],
  ])("that %s is refused at once", async (_what, status, headers) => {
    const address = await host((_request, response) => void response.writeHead(status, headers).end());
    await expect(mirrorInto(newSite(), address)).rejects.toMatchObject({ code: "source" });
  });
});

it("a mirror run that is killed at random moments goes on each time, and the copy is always whole", async () => {
  const proxy = await openProxy(server.address, { rate: 150_000 });
  const copy = newSite();
  const args = ["mirror", proxy.address, "--site", copy, "--rebuild", "never"];
  let killed = 0;
  for (let kill = 0; kill < 8; kill++) {
    const run = startCli(args);
    const timer = setTimeout(() => run.process.kill("SIGKILL"), 500 + 1200 * Math.random());
    const { code, stderr } = await run.ended;
    clearTimeout(timer);
    if (code === null) killed++;
    else expect(code, stderr).toBe(0);
    const verified = await runCli(["verify", "--site", copy]);
    if (verified.code !== 0) expect(verified.stderr).toContain("There is no release");
  }
  expect(killed).toBeGreaterThan(2);
  proxy.become({});
  const { code, stderr } = await runCli(args);
  expect(code, stderr).toBe(0);
  expect(digestsBelow(copy)).toEqual(digests);
});
