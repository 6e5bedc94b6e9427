import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { findChromium, openPage, save, startChromium } from "../setup/browser.js";
import { temporaryFolder } from "../setup/folders.js";
import { ask } from "../setup/http.js";
import { mirrorInto } from "../setup/mirror.js";
import { buildSample } from "../setup/release.js";
import { serve, type TestServer } from "../setup/serve.js";

const chromium = findChromium();

describe.skipIf(chromium === null)("a mirrored release opened from a disk (skipped: no Chromium)", () => {
  let browser: Browser;
  let server: TestServer;
  let address: string;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
    server = await serve(await buildSample());
    const site = join(temporaryFolder(), "copy");
    await mirrorInto(site, server.address);
    address = pathToFileURL(join(site, "index.html")).href;
  });

  /** A browser reads no file beside the page: it says so of the icon on the home screen, and that is all it may say. */
  const strange = (faults: readonly string[]): string[] =>
    faults.filter((fault) => !fault.includes("app.webmanifest") && !fault.includes("net::ERR_FAILED"));

  const listed = (page: Page): Promise<string[]> =>
    page.$$eval("#list .name", (names) => names.map((name) => name.textContent ?? ""));

  test("searches, lists and filters, shows a card, and says why there is no map", async () => {
    const { page, faults, context } = await openPage(browser, address);
    expect(await page.textContent(".status")).toBe("Found: 118 of 118");
    expect(await page.textContent(".why-not")).toContain("only from a server");
    expect(await page.textContent(".offline")).toContain("Opened from this device");
    const names = await listed(page);
    expect(names).toEqual([...names].sort(new Intl.Collator("en").compare));
    expect(await page.locator("#list .away").count()).toBe(0);
    await page.click('[data-category="7"]');
    expect(await listed(page)).toHaveLength(3);
    await page.click('[data-category="7"]');
    await page.fill("#search", "etang araing");
    expect(await listed(page)).toEqual(["Refuge de l'Etang d'Araing"]);
    await page.click("#list button");
    expect(await page.textContent("#card")).toMatch(/42\.\d{5}, 0\.\d{5}/);
    expect(page.url()).toMatch(/index\.html#\d+$/);
    await page.reload();
    expect(await page.textContent("#card h2")).toBe("Refuge de l'Etang d'Araing");
    expect(strange(faults)).toEqual([]);
    await context.close();
  });

  test("cuts the same downloads as the server, and its ready-made files are there", async () => {
    const { page, faults, context } = await openPage(browser, address);
    await page.selectOption("#region", "Andorre");
    await page.click('[data-category="6"]');
    await page.click("#open-downloads");
    for (const format of ["gpx", "kml", "csv", "geojson"]) {
      const answer = await ask(`${server.address}/api.php?format=${format}&type_lieu=6&region=Andorre`);
      expect(await save(page, format), format).toBe(answer.text);
    }
    const links = await page.$$eval<string[], HTMLAnchorElement>(".downloads table a", (all) =>
      all.map(({ href }) => href),
    );
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect(readFileSync(new URL(link)).length, link).toBeGreaterThan(0);
    expect(strange(faults)).toEqual([]);
    await context.close();
  });
});
