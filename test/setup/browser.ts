/** The system's Chromium, on a page that must ask no other host and break no policy. */

import { existsSync } from "node:fs";
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
}

/** A page in a context of its own, watched. */
export async function openPage(
  browser: Browser,
  address: string,
  options: PageOptions = {},
): Promise<WatchedPage> {
  const { width = 1280, height = 800, locale = "en-GB", serviceWorkers = "block" } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    locale,
    serviceWorkers,
    acceptDownloads: true,
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
