/**
 * What a test file leaves behind is taken away when it ends. Vitest heeds `afterAll` only where tests are declared; helpers
 * are called from hooks and tests, so they hand their cleaning to this file, which is a setup file of every test file.
 */

import { afterAll } from "vitest";

type Cleaning = () => unknown;

// One list for the setup file and for whoever imports it, even as another instance of this module.
const shared = globalThis as typeof globalThis & { cleanings?: Cleaning[] };
shared.cleanings ??= [];
const cleanings = shared.cleanings;

/** Runs when the test file ends, the latest first. */
export function atEnd(cleaning: Cleaning): void {
  cleanings.push(cleaning);
}

afterAll(async () => {
  for (let cleaning = cleanings.pop(); cleaning !== undefined; cleaning = cleanings.pop()) await cleaning();
});
