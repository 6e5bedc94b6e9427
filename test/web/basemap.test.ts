import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { writeBasemap } from "../setup/basemap.js";
import {
  drawn,
  findChromium,
  idsOnMap,
  openPage,
  savedOnDevice,
  seriousFindings,
  startChromium,
} from "../setup/browser.js";
import { temporaryFolder } from "../setup/folders.js";
import { buildSample } from "../setup/release.js";
import { serve } from "../setup/serve.js";

const chromium = findChromium();

describe.skipIf(chromium === null)("an operator's basemap (skipped: Chromium is not installed)", () => {
  let browser: Browser;
  let site: string;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
    const basemap = writeBasemap(join(temporaryFolder(), "basemap.pmtiles"));
    site = await buildSample({}, { map: { basemap } });
  });

  /** How many features of each layer of the basemap are drawn. */
  const drawnLayers = (page: Page): Promise<Record<string, number>> =>
    page.evaluate(() => {
      const { maplibre } = document.querySelector("#map") as unknown as {
        maplibre: { queryRenderedFeatures(): { source: string; layer: { id: string } }[] };
      };
      const counts: Record<string, number> = {};
      for (const { source, layer } of maplibre.queryRenderedFeatures())
        if (source === "basemap") counts[layer.id] = (counts[layer.id] ?? 0) + 1;
      return counts;
    });

  test("is drawn below the shelters, layer by layer, with its makers named", async () => {
    const { address } = await serve(site);
    const { page, faults, context } = await openPage(browser, address, { locale: "fr-FR" });
    await drawn(page);
    if (process.env["SCREENSHOTS"])
      await page.screenshot({ path: `${process.env["SCREENSHOTS"]}/basemap.png` });
    const layers = await drawnLayers(page);
    for (const layer of ["earth", "landcover-green", "landcover-ice", "landuse-green", "water", "rivers"])
      expect(layers[`base-${layer}`], layer).toBeGreaterThan(0);
    for (const layer of ["roads", "borders", "towns"])
      expect(layers[`base-${layer}`], layer).toBeGreaterThan(0);
    expect(await idsOnMap(page)).toHaveLength(118);
    expect(await page.textContent(".credit")).toBe("Made-up © Made-up contributors");
    const order = await page.evaluate(() => {
      const { maplibre } = document.querySelector("#map") as unknown as {
        maplibre: { getStyle(): { layers: { id: string }[] } };
      };
      return maplibre.getStyle().layers.map(({ id }) => id);
    });
    expect(order.indexOf("base-towns")).toBeLessThan(order.indexOf("selected"));
    expect(order.indexOf("land")).toBeLessThan(order.indexOf("base-earth"));
    const town = await page.evaluate(() => {
      const { maplibre } = document.querySelector("#map") as unknown as {
        maplibre: { getStyle(): { layers: { id: string; layout?: Record<string, unknown> }[] } };
      };
      const { layers } = maplibre.getStyle();
      return JSON.stringify(layers.find(({ id }) => id === "base-towns")?.layout?.["text-field"]);
    });
    expect(town).toContain("name:fr");
    expect(await seriousFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
    if (process.env["SCREENSHOTS"])
      await page.screenshot({ path: `${process.env["SCREENSHOTS"]}/basemap.png` });
    await context.close();
  });

  test("stays where it was looked at when the server is gone; elsewhere the simple background does", async () => {
    const server = await serve(site);
    const options = { serviceWorkers: "allow" } as const;
    const { page, faults, context } = await openPage(browser, server.address, options);
    await drawn(page);
    await savedOnDevice(page);
    await page.waitForFunction(async () => {
      const seen = (await caches.keys()).find((name) => name.endsWith("basemap"));
      return seen !== undefined && (await (await caches.open(seen)).keys()).length > 4;
    });
    await server.close();
    await page.reload();
    await drawn(page);
    const layers = await drawnLayers(page);
    expect(layers["base-water"]).toBeGreaterThan(0);
    expect(await idsOnMap(page)).toHaveLength(118);
    await page.fill("#search", "coma pedrosa");
    await page.click("#list button");
    await page.waitForFunction(() => {
      const { maplibre } = document.querySelector("#map") as unknown as { maplibre: { getZoom(): number } };
      return maplibre.getZoom() > 10.9;
    });
    await page.waitForFunction(() => {
      const { maplibre } = document.querySelector("#map") as unknown as {
        maplibre: { queryRenderedFeatures(options: object): unknown[] };
      };
      return (
        maplibre.queryRenderedFeatures({ layers: ["land"] }).length > 0 &&
        maplibre.queryRenderedFeatures({ layers: ["symbols-near"] }).length > 0
      );
    });
    // The map says "Error" on the console for each tile that it does not get.
    expect(faults.filter((fault) => !/ERR_|Failed to fetch|^console Error$/.test(fault))).toEqual([]);
    await context.close();
  });
});
