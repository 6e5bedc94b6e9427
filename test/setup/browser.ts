/** The system's Chromium, on a page that must ask no other host and break no policy. */

import { existsSync, readFileSync } from "node:fs";
import AxeBuilder from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { atEnd } from "./cleanup.js";

const EXECUTABLES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is; null where there is none. In CI it must be there: there this throws. */
export function findChromium(): string | null {
  const path = EXECUTABLES.find((candidate) => existsSync(candidate)) ?? null;
  if (path === null && process.env["CI"]) throw new Error("Chromium is missing: in CI it must be installed.");
  return path;
}

// WebGL in software, so that the map is drawn on machines without a graphics card.
const WEBGL = ["--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader"];

/** Starts Chromium; it ends with the test file. */
export async function startChromium(executablePath: string, hasWebgl = true): Promise<Browser> {
  const gl = hasWebgl ? WEBGL : ["--disable-gpu", "--disable-3d-apis", "--disable-webgl", "--disable-webgl2"];
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", ...gl] });
  atEnd(() => browser.close());
  return browser;
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Addresses on other hosts that were asked for, errors of the page, and violations of its policy. */
  readonly faults: readonly string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly locale?: string;
  readonly serviceWorkers?: "allow" | "block";
  readonly permissions?: readonly string[];
  readonly geolocation?: { readonly latitude: number; readonly longitude: number };
}

/** A page in a context of its own, watched. */
export async function openPage(
  browser: Browser,
  address: string,
  options: PageOptions = {},
): Promise<WatchedPage> {
  const { width = 1280, height = 800, permissions = [], ...asked } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    permissions: [...permissions],
    acceptDownloads: true,
    ...{ locale: "en-GB", serviceWorkers: "block", ...asked },
  });
  const faults: string[] = [];
  const origin = new URL(address).origin;
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) faults.push(`asked ${request.url()}`);
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`error ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console ${message.text()}`);
  });
  await page.goto(address);
  await page.waitForSelector("#app .status");
  return { page, context, faults };
}

/** Waits until the page says that it is saved on the device. */
export async function savedOnDevice(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector(".offline")?.textContent?.startsWith("Saved"),
    null,
    { timeout: 30_000 },
  );
}

/** Waits until the map has drawn what it was asked for. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(
    () => {
      const holder = document.querySelector("#map") as unknown as { maplibre?: { loaded(): boolean } } | null;
      return holder?.maplibre?.loaded() === true;
    },
    null,
    { timeout: 30_000 },
  );
}

/** Ids of the places that the map draws now. */
export function idsOnMap(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const holder = document.querySelector("#map") as unknown as {
      maplibre: { queryRenderedFeatures(options: object): { id: number }[] };
    };
    const features = holder.maplibre.queryRenderedFeatures({ layers: ["dots", "symbols-near"] });
    return [...new Set(features.map(({ id }) => id))].sort((a, b) => a - b);
  });
}

/** Clicks a format of the downloads; gives what was saved. */
export async function save(page: Page, format: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`[data-format="${format}"]`),
  ]);
  return readFileSync(await download.path(), "utf8");
}

/** What axe-core finds that is serious or critical. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AxeBuilder.source);
  const violations = await page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: typeof AxeBuilder }).axe;
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}
