import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { readManifest } from "../../src/release/manifest.js";
import {
  drawn,
  findChromium,
  idsOnMap,
  openPage,
  save,
  seriousFindings,
  startChromium,
} from "../setup/browser.js";
import { ask } from "../setup/http.js";
import { buildSample } from "../setup/release.js";
import { serve, type TestServer } from "../setup/serve.js";
import { staticHost } from "../setup/statichost.js";

const chromium = findChromium();
const FIRST_LOAD = 450_000; // bytes, compressed, without tiles

let site: string;
let server: TestServer;
beforeAll(async () => {
  site = await buildSample();
  server = await serve(site);
});

test("the first load without tiles is lighter than 450 KB", () => {
  const loaded = [
    "index.html",
    "style.css",
    "app.js",
    "icon.svg",
    "app.webmanifest",
    "page.json",
    "index.json",
  ];
  const map = [
    "map.js",
    "placelayers.js",
    "maplibre-gl.mjs",
    "maplibre-gl-worker.mjs",
    "maplibre-gl.css",
    "background.json",
  ];
  const { files } = readManifest(site).manifest;
  const sizes = [...loaded, ...map].map(
    (path) => files.find((file) => file.path === path)?.codings.br?.bytes,
  );
  expect(sizes.every((size) => size !== undefined)).toBe(true);
  expect(sizes.reduce((sum = 0, size = 0) => sum + size, 0)).toBeLessThan(FIRST_LOAD);
});

test("the page without script lists every region and its files", () => {
  const html = readFileSync(join(site, "index.html"), "utf8");
  const { regions } = readManifest(site).manifest;
  for (const { slug } of regions) expect(html).toContain(`href="exports/${slug}/all.gpx"`);
  expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|<style/);
  expect(html).toContain("Content-Security-Policy");
});

describe.skipIf(chromium === null)("in a browser (skipped: Chromium is not installed)", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromium ?? "");
  });

  test("every place is drawn, and a filter takes the others away from map and list", async () => {
    const { page, faults, context } = await openPage(browser, server.address);
    await drawn(page);
    expect(await idsOnMap(page)).toHaveLength(118);
    expect(await page.textContent(".status")).toBe("In view: 118 of 118");
    await page.click('[data-category="7"]');
    await page.waitForFunction(() => document.querySelectorAll("#list button").length === 3);
    await drawn(page);
    expect(await idsOnMap(page)).toHaveLength(3);
    await page.click('[data-category="7"]');
    await page.selectOption("#region", "Andorre");
    await page.waitForFunction(
      () => !document.querySelector(".status")?.textContent?.startsWith("In view: 118"),
    );
    await drawn(page);
    const listed = await page.$$eval("#list button", (rows) =>
      rows.map((row) => Number(row.getAttribute("data-id"))),
    );
    expect(await idsOnMap(page)).toEqual(listed.sort((a, b) => a - b));
    expect(faults).toEqual([]);
    await context.close();
  });

  test("a search without accents opens a card with the position in three notations", async () => {
    const { page, faults, context } = await openPage(browser, server.address);
    await drawn(page);
    await page.fill("#search", "etang araing");
    await page.click("#list button");
    await page.waitForSelector("#card:not([hidden])");
    const card = (await page.textContent("#card")) ?? "";
    expect(card).toContain("Refuge de l'Etang d'Araing");
    expect(card).toMatch(/42\.\d{5}, 0\.\d{5}/);
    expect(card).toMatch(/42°\d\d'\d\d\.\d"N/);
    expect(card).toMatch(/31T \d{6} \d{7}/);
    expect(page.url()).toMatch(/#\d+$/);
    expect(await page.getAttribute("#card a.button", "href")).toMatch(/^geo:42\.\d+,0\.\d+\?q=/);
    await drawn(page);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForSelector("#card", { state: "hidden" });
    expect(faults).toEqual([]);
    await context.close();
  });

  test("a shared address opens the card, in the form of old records too", async () => {
    for (const address of [`${server.address}/#7`, `${server.address}/?id=7`]) {
      const { page, context } = await openPage(browser, address);
      await page.waitForSelector("#card:not([hidden])");
      expect(await page.textContent("#card h2")).toBe("Refuge de La Coma Pedrosa");
      await context.close();
    }
  });

  test("the downloads are what the endpoint answers, in every format that is offered", async () => {
    const { page, context } = await openPage(browser, server.address);
    await drawn(page);
    await page.selectOption("#region", "Andorre");
    await page.click('[data-category="6"]');
    await page.click("#open-downloads");
    await page.check('input[name="scope"] >> nth=1');
    for (const format of ["gpx", "kml", "csv", "geojson"]) {
      const answer = await ask(`${server.address}/api.php?format=${format}&type_lieu=6&region=Andorre`);
      expect(await save(page, format), format).toBe(answer.text);
    }
    expect(await seriousFindings(page)).toEqual([]);
    const pack = await page.getAttribute(".downloads table a", "href");
    expect((await ask(`${server.address}/${pack}`)).status).toBe(200);
    await context.close();
  });

  test("a static host gives the same downloads: the page cuts them itself", async () => {
    const { page, context } = await openPage(browser, await staticHost(site));
    await drawn(page);
    await page.click('[data-category="5"]');
    await page.click("#open-downloads");
    const box = await page.evaluate(() => {
      const holder = document.querySelector("#map") as unknown as {
        maplibre: { getBounds(): { toArray(): [[number, number], [number, number]] } };
      };
      return holder.maplibre.getBounds().toArray().flat();
    });
    const bbox = box.map((edge) => Number(edge.toFixed(7))).join(",");
    for (const format of ["gpx", "csv"]) {
      const answer = await ask(`${server.address}/api.php?format=${format}&type_lieu=5&bbox=${bbox}`);
      expect(await save(page, format), format).toBe(answer.text);
    }
    await context.close();
  });

  test("the visitor's language is spoken, and another can be chosen", async () => {
    const { page, context } = await openPage(browser, server.address, { locale: "ca-ES" });
    expect(await page.textContent("#open-downloads")).toBe("Baixades");
    expect(await page.getAttribute("html", "lang")).toBe("ca");
    await page.selectOption("#language", "fr");
    expect(await page.textContent("#open-downloads")).toBe("Téléchargements");
    expect(await page.textContent('[data-category="6"]')).toContain("Refuge gardé toute l'année");
    await context.close();
  });

  test("a phone 360 pixels wide shows map, search and list without sideways scrolling", async () => {
    const { page, context, faults } = await openPage(browser, server.address, { width: 360, height: 740 });
    await drawn(page);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    expect(await page.isVisible("#search")).toBe(true);
    await page.click("#list button");
    await page.waitForSelector("#card:not([hidden])");
    expect(await seriousFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test("without WebGL the page says so, and list, search and downloads stay", async () => {
    const blind = await startChromium(chromium ?? "", false);
    const { page } = await openPage(blind, server.address);
    await page.waitForSelector(".why-not");
    expect(await page.textContent(".why-not")).toContain("WebGL");
    await page.fill("#search", "coma pedrosa");
    expect(await page.textContent(".status")).toBe("Found: 1 of 118");
    await page.click("#open-downloads");
    const answer = await ask(`${server.address}/api.php?format=geojson`);
    const saved = JSON.parse(await save(page, "geojson"));
    expect(saved.features).toHaveLength(1);
    expect(saved.generation).toBe(JSON.parse(answer.text).generation);
  });

  test("the printed list has a row for each place that was chosen", async () => {
    const { page, context } = await openPage(browser, server.address);
    await page.evaluate(() => {
      globalThis.print = () => {};
    });
    await page.selectOption("#region", "Andorre");
    await page.click("#print");
    const rows = await page.$$eval("#paper tbody tr", (all) => all.map((row) => row.textContent ?? ""));
    expect(rows).toHaveLength(
      readManifest(site).manifest.regions.find(({ name }) => name === "Andorre")?.count ?? -1,
    );
    for (const row of rows) expect(row).toMatch(/42\.\d{5}, 1\.\d{5}31T \d{6} \d{7}/);
    expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(10_000);
    await context.close();
  });
});
