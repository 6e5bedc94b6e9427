import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { symbolPng } from "../../src/bytes/png.js";
import { TOPOGRAPHIC_HOST } from "../../src/hosts/policy.js";
import { drawn, findChromium, openPage, seriousFindings, startChromium } from "../setup/browser.js";
import { buildSample } from "../setup/release.js";
import { serve, type TestServer } from "../setup/serve.js";

const chromium = findChromium();
const DAY = 86_400_000; // ms

describe.skipIf(chromium === null)("a visit (skipped: Chromium is not installed)", () => {
  let browser: Browser;
  let server: TestServer;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
    server = await serve(await buildSample({ date: daysAgo(3) }));
  });

  test("says how old the data are in every language, on the screen and on paper", async () => {
    for (const [locale, said] of [
      ["en-GB", "Data of 3 days ago"],
      ["fr-FR", "Données d’il y a 3 jours"],
      ["es-ES", "Datos de hace 3 días"],
      ["ca-ES", "Dades de fa 3 dies"],
    ] as const) {
      const { page, context } = await openPage(browser, server.address, { locale });
      expect(await page.textContent(".bar .age")).toBe(said);
      expect(await page.isVisible(".bar .age")).toBe(true);
      expect(await page.$(".old")).toBeNull();
      await printed(page);
      expect(await page.textContent("#paper .age")).toContain(said);
      await page.emulateMedia({ media: "print" });
      expect(await page.isVisible("#paper .age")).toBe(true);
      expect(await page.isVisible("#app")).toBe(false);
      await context.close();
    }
  });

  test("warns when the data are older than a year: above the list, on each card, on paper", async () => {
    const old = await serve(await buildSample({ date: daysAgo(400) }, { map: { maxZoom: null } }));
    for (const [locale, said, warned] of [
      ["en-GB", "400 days ago", "more than a year old"],
      ["fr-FR", "il y a 400 jours", "ont plus d’un an"],
      ["es-ES", "hace 400 días", "tienen más de un año"],
      ["ca-ES", "fa 400 dies", "tenen més d’un any"],
    ] as const) {
      const { page, context } = await openPage(browser, old.address, { locale, width: 360, height: 740 });
      expect(await page.textContent(".bar .age.old")).toContain(said);
      expect(await page.textContent(".bar .age.old")).toContain(warned);
      await page.click("#list button");
      expect(await page.textContent("#card .old")).toContain(warned);
      expect(await seriousFindings(page)).toEqual([]);
      const { scrolled, wide } = await page.evaluate(() => ({
        scrolled: document.documentElement.scrollWidth,
        wide: innerWidth,
      }));
      expect(scrolled).toBeLessThanOrEqual(wide);
      await page.setViewportSize({ width: 1000, height: 700 });
      await printed(page);
      expect(await page.textContent("#paper .old")).toContain(warned);
      await context.close();
    }
  });

  test("sorts by the visitor's position, which is asked only on a click, until it is clicked again", async () => {
    const geolocation = { latitude: 42.63, longitude: 1.48 };
    const options = { permissions: ["geolocation"], geolocation };
    const { page, faults, context } = await openPage(browser, server.address, options);
    await page.evaluate(() => {
      const ask = navigator.geolocation.getCurrentPosition.bind(navigator.geolocation);
      navigator.geolocation.getCurrentPosition = (...arguments_) => {
        document.body.dataset["asked"] = "yes";
        ask(...arguments_);
      };
    });
    await drawn(page);
    expect(await page.getAttribute("body", "data-asked")).toBeNull();
    expect(await page.textContent(".summary")).toContain("from the map’s centre");
    await page.click("#near");
    await page.waitForFunction(() => document.querySelector(".summary")?.textContent?.includes("from you"));
    expect(await page.getAttribute("body", "data-asked")).toBe("yes");
    expect(await page.textContent("#list .name")).toBe("Refuge du Fourcat");
    const distances = await page.$$eval("#list .away", (all) =>
      all.map((away) => Number.parseFloat(away.textContent ?? "")),
    );
    expect(distances).toEqual([...distances].sort((a, b) => a - b));
    await page.waitForFunction(() => {
      const { maplibre } = document.querySelector("#map") as unknown as {
        maplibre: { queryRenderedFeatures(options: object): unknown[]; getLayer(id: string): unknown };
      };
      return (
        maplibre.getLayer("visitor") !== undefined &&
        maplibre.queryRenderedFeatures({ layers: ["visitor"] }).length > 0
      );
    });
    expect(await page.getAttribute("#near", "aria-pressed")).toBe("true");
    await page.click("#near");
    expect(await page.textContent(".summary")).toContain("from the map’s centre");
    expect(faults).toEqual([]);
    await context.close();
  });

  test("says clearly that a position was denied, and goes on without it", async () => {
    const { page, context } = await openPage(browser, server.address);
    await drawn(page);
    await page.click("#near");
    await page.waitForFunction(() =>
      document.querySelector(".filters .note")?.textContent?.includes("said no"),
    );
    expect(await page.textContent(".filters .note")).toBe(
      "Your position is not known: the browser or the device said no.",
    );
    expect(await page.textContent(".summary")).toContain("from the map’s centre");
    expect(await page.locator("#list button").count()).toBeGreaterThan(50);
    await context.close();
  });

  test("asks the public topographic map only when it is switched on, names its makers, and may ask no other", async () => {
    const { page, faults, context } = await openPage(browser, server.address);
    const asked: string[] = [];
    await context.route(`${TOPOGRAPHIC_HOST}/**`, (route) => {
      asked.push(route.request().url());
      return route.fulfill({
        contentType: "image/png",
        headers: { "Access-Control-Allow-Origin": "*" },
        body: symbolPng(null),
      });
    });
    await drawn(page);
    await page.click("#list button");
    await page.waitForSelector("#card:not([hidden])");
    await drawn(page);
    expect([asked, faults]).toEqual([[], []]);
    expect(await page.getAttribute("#topographic", "aria-pressed")).toBe("false");

    await page.click("#topographic");
    await page.waitForFunction(() => document.querySelector("#topographic[aria-pressed=true]") !== null);
    await drawn(page);
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(await page.textContent(".credit")).toMatch(/OpenStreetMap.*OpenTopoMap/);
    expect(asked.every((url) => /^https:\/\/tile\.opentopomap\.org\/\d+\/\d+\/\d+\.png$/.test(url))).toBe(
      true,
    );
    // Nothing but that one host was asked, and no policy was in its way.
    expect(faults.filter((fault) => !fault.startsWith(`asked ${TOPOGRAPHIC_HOST}/`))).toEqual([]);

    const count = asked.length;
    await page.click("#topographic");
    await drawn(page);
    expect(await page.textContent(".credit")).toContain("Natural Earth");
    await page.click(".buttons button");
    await drawn(page);
    expect(asked).toHaveLength(count);
    const blocked = await page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
            resolve(effectiveDirective),
          );
          fetch("https://a.tile.opentopomap.org/1/1/1.png").catch(() => {});
        }),
    );
    expect(blocked).toBe("connect-src");
    await context.close();
  });

  test("goes by keyboard alone: list, card, dialog, and back to where it was", async () => {
    const { page, context } = await openPage(browser, server.address);
    await drawn(page);
    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const active = document.activeElement;
        return active?.id || active?.getAttribute("data-id") || active?.className || "";
      });
    await page.focus("#list button");
    const row = await focused();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#card:not([hidden])");
    expect(await focused()).toBe("card");
    await page.keyboard.press("Escape");
    expect(await focused()).toBe(row);
    await page.focus("#open-downloads");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await focused()).toBe("open-downloads");
    await page.focus("#language");
    await page.selectOption("#language", "ca");
    expect(await focused()).toBe("language");
    // A dialog above a card takes the key for itself.
    await page.focus("#list button");
    await page.keyboard.press("Enter");
    await page.focus("#open-downloads");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    expect(await page.isVisible("#card")).toBe(true);
    await context.close();
  });

  test("says so when a shared address names a place that is not here", async () => {
    const { page, context } = await openPage(browser, `${server.address}/#987654`);
    expect(await page.textContent(".filters .note")).toBe("No shelter here has the number 987654.");
    await context.close();
  });
});

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY - 60_000).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Lays out the list for paper; nothing is sent to a printer. */
async function printed(page: Page): Promise<void> {
  await page.evaluate(() => {
    globalThis.print = () => {};
  });
  await page.click("#print");
}
