import { cpSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import AxeBuilder from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build } from "../../src/build.js";
import { readManifest } from "../../src/manifest.js";
import { pull } from "../../src/pull.js";
import { drawn, findChromium, openPage, startChromium } from "../setup/browser.js";
import { temporaryFolder } from "../setup/folders.js";
import { ask } from "../setup/http.js";
import { serve, type TestServer } from "../setup/serve.js";

const chromium = findChromium();
const FIRST_LOAD = 450_000; // bytes, compressed, without tiles

let site: string;
let server: TestServer;
beforeAll(async () => {
  const folder = temporaryFolder();
  site = join(folder, "site");
  const database = join(folder, "places.sqlite");
  await pull({ from: "data/places.csv", database, force: false, about: {}, onProgress: () => {} });
  await build({ database, site, onProgress: () => {} });
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
  const map = ["maplibre-gl.mjs", "maplibre-gl-worker.mjs", "maplibre-gl.css", "background.json"];
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

/** Ids of the places that the map draws now. */
function idsOnMap(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const holder = document.querySelector("#map") as unknown as {
      maplibre: { queryRenderedFeatures(options: object): { id: number }[] };
    };
    const features = holder.maplibre.queryRenderedFeatures({ layers: ["dots", "symbols-near"] });
    return [...new Set(features.map(({ id }) => id))].sort((a, b) => a - b);
  });
}

async function save(page: Page, format: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`[data-format="${format}"]`),
  ]);
  return readFileSync(await download.path(), "utf8");
}

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AxeBuilder.source);
  const violations = await page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: typeof AxeBuilder }).axe;
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

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

  test("after the first visit everything works with the server stopped", async () => {
    const own = await serve(site);
    const bbox = "-0.5,42.6,0.5,43";
    const asked = `api.php?format=gpx&bbox=${bbox}&type_lieu=5`;
    const answer = await ask(`${own.address}/${asked}`);
    const { page, context } = await openPage(browser, own.address, { serviceWorkers: "allow" });
    await page.waitForFunction(
      () => document.querySelector(".offline")?.textContent?.startsWith("Saved"),
      null,
      {
        timeout: 30_000,
      },
    );
    await own.close();
    await page.reload();
    await drawn(page);
    expect(await idsOnMap(page)).toHaveLength(118);
    expect(await page.evaluate(async (path) => (await fetch(path)).text(), asked)).toBe(answer.text);
    await page.fill("#search", "etang araing");
    await page.click("#list button");
    await page.waitForSelector("#card:not([hidden])");
    const pack = await page.evaluate(async () => (await fetch("exports/andorre/6.geojson")).json());
    expect(pack.features.length).toBeGreaterThan(0);
    await context.close();
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

/** Files and nothing else: no ranges, no codings, no endpoint. */
async function staticHost(folder: string): Promise<string> {
  const copy = join(temporaryFolder(), "copy");
  cpSync(folder, copy, { recursive: true });
  const { files } = readManifest(copy).manifest;
  const types = new Map(files.map(({ path, mediaType }) => [path, mediaType]));
  const host = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").split("?")[0] ?? "").slice(1) || "index.html";
    const type = types.get(path);
    if (type === undefined) response.writeHead(404).end("nothing here");
    else response.writeHead(200, { "Content-Type": type }).end(readFileSync(join(copy, path)));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  afterAll(() => new Promise((resolve) => host.close(resolve)));
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
}
