import { copyFileSync, cpSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { atEnd } from "./setup/cleanup.js";
import { digestsBelow, temporaryFolder } from "./setup/folders.js";
import { buildSmall, changed, fewFiles, mirrorInto, rebuildSmall } from "./setup/mirror.js";
import { openProxy } from "./setup/proxy.js";
import { pullRecords } from "./setup/release.js";
import { serve } from "./setup/serve.js";
import { isInstalled, startNginx, startPython } from "./setup/webservers.js";

const places = fewFiles(40);
const older = await buildSmall(places);
// The next release of the same data; its database remembers the step.
const newer = join(temporaryFolder(), "site");
const database = join(temporaryFolder(), "places.sqlite");
cpSync(older.site, newer, { recursive: true });
copyFileSync(older.database, database);
await pullRecords(database, changed(places, 13, "new"), { date: "2026-02-01T00:00:00Z" });
await rebuildSmall(database, newer);

/** A folder that a host shows, and that goes over to the newer release. */
function shown(): { readonly folder: string; readonly renew: () => void } {
  const folder = join(temporaryFolder(), "site");
  cpSync(older.site, folder, { recursive: true });
  return {
    folder,
    renew: () => {
      rmSync(folder, { recursive: true });
      cpSync(newer, folder, { recursive: true });
    },
  };
}

const hosts = [
  { name: "nginx", needs: "nginx", start: (site: string) => startNginx(site, "gzip_static off;") },
  {
    name: "nginx with gzip_static and gzip",
    needs: "nginx",
    start: (site: string) => startNginx(site, "gzip_static on; gzip on; gzip_types application/json;"),
  },
  { name: "Python's http.server: no ETag, no ranges", needs: null, start: startPython },
] as const;

describe.each(hosts)("$name as the host of a release", ({ needs, start }) => {
  const isThere = needs === null || isInstalled(needs);

  it("is copied, costs less than 1 kB when nothing changed, and a new release is caught up with by its changes", async (context) => {
    context.skip(!isThere, `${needs} is not installed`);
    const { folder, renew } = shown();
    const line = await openProxy(await start(folder));
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, line.address);
    expect(digestsBelow(copy)).toEqual(digestsBelow(older.site));

    line.reset();
    expect((await mirrorInto(copy, line.address)).outcome).toBe("unchanged");
    expect(line.connections()).toBe(1);
    expect(line.bytes()).toBeLessThan(1000);

    renew();
    line.reset();
    const { lines } = await mirrorInto(copy, line.address, { rebuild: "always" });
    expect(lines.join("\n")).toContain("of changes");
    expect(line.bytes()).toBeLessThan(60_000);
    expect(digestsBelow(copy)).toEqual(digestsBelow(newer));
  });

  it("is copied over a line that breaks inside the files", async (context) => {
    context.skip(!isThere, `${needs} is not installed`);
    // Without ranges a file must come in one go.
    const line = await openProxy(await start(older.site), { cutEvery: needs === null ? 600_000 : 30_000 });
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, line.address);
    expect(line.connections()).toBeGreaterThan(5);
    expect(digestsBelow(copy)).toEqual(digestsBelow(older.site));
  });
});

it("a host without ranges over a line that always breaks before the end is given up, not asked for ever", async () => {
  const line = await openProxy(await startPython(older.site), { cutEvery: 200_000 });
  const copy = join(temporaryFolder(), "site");
  await expect(mirrorInto(copy, line.address, { limits: { retries: 3 } })).rejects.toMatchObject({
    code: "source",
    message: expect.stringMatching(/maplibre-gl.*is kept/),
  });
  expect(line.bytes()).toBeLessThan(6e6);
});

describe("a host that redirects", () => {
  /** A host that sends everybody elsewhere. */
  async function redirecting(where: (path: string) => string, status: number): Promise<string> {
    const answer: RequestListener = (request, response) =>
      void response.writeHead(status, { Location: where(request.url ?? "/") }).end();
    const host = createServer(answer);
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    atEnd(() => host.close());
    return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  }

  it.each([
    [301, "moved for good"],
    [302, "for now"],
    [308, "moved for good, with the method"],
  ])(
    "with %i (%s) to another host is followed: hashes and signatures say whose the bytes are",
    async (status) => {
      const { address } = await serve(older.site);
      const old = await redirecting((path) => address + path, status);
      const copy = join(temporaryFolder(), "site");
      expect((await mirrorInto(copy, old)).outcome).toBe("mirrored");
      expect(digestsBelow(copy)).toEqual(digestsBelow(older.site));
      expect((await mirrorInto(copy, old)).outcome).toBe("unchanged");
    },
  );

  it("from one folder to another of its own is followed, and files are then asked for there", async () => {
    const { address } = await serve(older.site);
    const asked: string[] = [];
    const old = await redirecting((path) => {
      asked.push(path);
      return `${address}/${path.split("/").at(-1)}`;
    }, 301);
    const copy = join(temporaryFolder(), "site");
    await mirrorInto(copy, `${old}/shelters/latest`);
    expect(digestsBelow(copy)).toEqual(digestsBelow(older.site));
    expect(asked).toEqual(["/shelters/latest/manifest.json"]);
  });

  it("to something that is no web address is refused", async () => {
    for (const where of ["ftp://example.org/", "file:///etc/passwd", "http://"]) {
      const old = await redirecting(() => where, 302);
      await expect(mirrorInto(join(temporaryFolder(), "site"), old)).rejects.toMatchObject({
        code: "source",
        message: expect.stringContaining("not followed"),
      });
    }
  });
});
