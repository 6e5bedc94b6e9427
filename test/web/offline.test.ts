import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  drawn,
  findChromium,
  idsOnMap,
  openPage,
  save,
  savedOnDevice,
  startChromium,
} from "../setup/browser.js";
import { atEnd } from "../setup/cleanup.js";
import { ask } from "../setup/http.js";
import { madePlaces } from "../setup/madeplaces.js";
import { buildRelease, buildSample, pullRecords, rebuild } from "../setup/release.js";
import { serve } from "../setup/serve.js";

const chromium = findChromium();

describe.skipIf(chromium === null)("without a network (skipped: Chromium is not installed)", () => {
  let browser: Browser;
  let sample: string;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
    sample = await buildSample();
  });

  test.each([
    { device: "a phone", width: 360, height: 740 },
    { device: "a laptop", width: 1280, height: 800 },
  ])("a hiker with $device has everything after the first visit, with the server stopped", async (size) => {
    const { width, height } = size;
    const server = await serve(sample);
    const asked = "api.php?format=gpx&bbox=-0.5,42.6,0.5,43&type_lieu=5";
    const answer = await ask(`${server.address}/${asked}`);
    const permissions = ["clipboard-read", "clipboard-write"];
    const options = { width, height, permissions, serviceWorkers: "allow" } as const;
    const { page, faults, context } = await openPage(browser, server.address, options);
    await savedOnDevice(page);
    await server.close();
    await page.reload();
    await drawn(page);
    expect(await idsOnMap(page)).toHaveLength(118);

    await page.fill("#search", "etang araing");
    await page.click("#list button");
    await page.waitForSelector("#card:not([hidden])");
    await page.click("#card .copy");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^42\.\d{5}, 0\.\d{5}$/);
    await page.waitForFunction(() => document.querySelector("#card .copy")?.textContent === "Copied");

    await page.keyboard.press("Escape");
    await page.fill("#search", "");
    await drawn(page);
    await page.click("#open-downloads");
    const gpx = await save(page, "gpx");
    expect(gpx).toContain("<name>Refuge de l&apos;Etang d&apos;Araing</name>");
    expect(gpx.match(/<wpt /g)?.length).toBeLessThan(118);
    await page.keyboard.press("Escape");

    await page.selectOption("#language", "es");
    expect(await page.textContent("#open-downloads")).toBe("Descargas");
    await page.goto(`${server.address}/#7`);
    await page.waitForFunction(
      () => document.querySelector("#card h2")?.textContent === "Refuge de La Coma Pedrosa",
    );
    expect(await page.evaluate(async (path) => (await fetch(path)).text(), asked)).toBe(answer.text);
    const pack = await page.evaluate(async () => (await fetch("exports/andorre/6.geojson")).json());
    expect(pack.features.length).toBeGreaterThan(0);
    expect(faults.filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
    await context.close();
  });
});

describe.skipIf(chromium === null)("a newer release (skipped: Chromium is not installed)", () => {
  const records = madePlaces(60);
  const newer = [...records.slice(1), { ...records[0], id: 900, name: "Refugi Nou" }];
  const newest = [...newer.slice(1), { ...records[0], id: 901, name: "Refugi Noucentista" }];
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
  });

  const ids = async (page: Page): Promise<number[]> =>
    page.evaluate(async () => (await (await fetch("index.json")).json()).map(([id]: [number]) => id));
  const generation = async (page: Page): Promise<string> =>
    page.evaluate(async () => (await (await fetch("page.json")).json()).generation);
  /** A tile as the map's own worker gets it, which is no page. */
  const idsOfTile = async (page: Page): Promise<number[]> => {
    await page.evaluate(() => {
      const holder = document.querySelector("#map") as unknown as {
        maplibre: { refreshTiles(source: string): void };
      };
      holder.maplibre.refreshTiles("places");
    });
    await drawn(page);
    return idsOnMap(page);
  };
  const lookForNewer = (page: Page): Promise<unknown> =>
    page.evaluate(() => dispatchEvent(new Event("online")));
  const isTold = (page: Page): Promise<unknown> =>
    page.waitForFunction(
      () => document.querySelector(".offline")?.textContent?.includes("Newer data"),
      null,
      {
        timeout: 30_000,
      },
    );

  test("comes in the background, is told, and is shown whole; an open page stays with the one it began with", async () => {
    const { database, site } = await buildRelease(records);
    const server = await serve(site);
    const line = await openLine(server.address);
    const { page, faults, context } = await openPage(browser, line.address, { serviceWorkers: "allow" });
    await savedOnDevice(page);
    await page.reload(); // from now on the service worker answers
    await drawn(page);
    const before = await generation(page);
    expect(await idsOnMap(page)).toHaveLength(60);

    await pullRecords(database, newer, { date: "2026-02-03T04:05:06Z" });
    await rebuild(database, site);
    await published(server.address, before);
    await lookForNewer(page);
    await isTold(page);
    expect(await generation(page)).toBe(before);
    expect(await ids(page)).toContain(1);
    expect(await idsOfTile(page)).toContain(1);

    await page.click(".offline button");
    await page.waitForFunction(() => performance.now() < 20_000 && document.querySelector("#app .status"));
    await drawn(page);
    expect(await generation(page)).not.toBe(before);
    expect(await ids(page)).toEqual(expect.arrayContaining([900]));
    expect(await ids(page)).not.toContain(1);
    expect(await idsOnMap(page)).toContain(900);
    await page.fill("#search", "refugi nou");
    expect(await page.textContent("#list .name")).toBe("Refugi Nou");

    // A line that breaks in the middle of the next one: the copy goes on as it is, whole.
    const held = await generation(page);
    await pullRecords(database, newest, { date: "2026-03-04T05:06:07Z" });
    await rebuild(database, site);
    await published(server.address, held);
    const broken = line.breakAt("/places.pmtiles");
    await page.reload();
    await drawn(page);
    await broken;
    expect(await page.evaluate(async () => (await caches.keys()).join())).toMatch(/release-.*release-/);
    expect(await page.textContent(".offline")).not.toContain("Newer data");
    expect(await generation(page)).toBe(held);
    await page.reload();
    await drawn(page);
    expect(await ids(page)).toContain(900);
    expect(await idsOnMap(page)).toContain(900);

    const whatCame = line.bytes();
    line.mend();
    await lookForNewer(page);
    await isTold(page);
    await page.click(".offline button");
    await page.waitForFunction(async () => {
      const rows: [number][] = await (await fetch("index.json")).json();
      return rows.some(([id]) => id === 901);
    });
    // The map library alone is 400 kB: what is the same is not fetched again, nor what came before the line broke.
    expect(line.bytes() - whatCame).toBeLessThan(300_000);
    expect(line.asked("/maplibre-gl.mjs")).toBeLessThanOrEqual(2);
    // The page that was reloaded asks once more; by then nobody has the older release open.
    await page.waitForFunction(async () => !/release-.*release-/.test((await caches.keys()).join()));
    expect(faults.filter((fault) => !/ERR_|Failed to fetch/.test(fault))).toEqual([]);
    await context.close();
  });
});

/** Waits until the server has gone over to another release. */
async function published(address: string, before: string): Promise<void> {
  for (;;) {
    const manifest = JSON.parse((await ask(`${address}/manifest.json`)).text);
    if (manifest.generation !== before) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A line to a server that breaks in the middle of one file. */
async function openLine(target: string) {
  let breaking: string | null = null;
  let bytes = 0;
  let whenBroken = (): void => {};
  const asked = new Map<string, number>();
  const line = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const onward = request(
      `${target}${path}`,
      { headers: incoming.headers, method: incoming.method },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (path !== breaking) outgoing.write(chunk);
          else outgoing.write(chunk.subarray(0, 1000), () => outgoing.destroy());
          if (path === breaking) whenBroken();
        });
        answer.on("end", () => outgoing.end());
      },
    );
    onward.end();
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    line.closeAllConnections();
    line.close();
  });
  return {
    address: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
    bytes: () => bytes,
    asked: (path: string) => asked.get(path) ?? 0,
    /** Resolves when it has broken for the first time, and the browser had time to notice. */
    breakAt: async (path: string): Promise<void> => {
      breaking = path;
      await new Promise<void>((resolve) => {
        whenBroken = resolve;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
    },
    mend: () => {
      breaking = null;
    },
  };
}
