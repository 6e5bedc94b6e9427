import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { symbolPng } from "../src/bytes/png.js";
import { symbolStrokes, symbolSvg } from "../src/symbols.js";
import { categoryNumbers } from "../src/taxonomy.js";
import { temporaryFolder } from "./setup/folders.js";
import { hasProgram, run } from "./setup/system.js";

const all = [...categoryNumbers, null];

describe("the symbols", () => {
  it("are one drawing per category and one for places of no known category", () => {
    expect(new Set(all.map((category) => symbolSvg(category))).size).toBe(8);
  });

  it("differ by more than their colours: no two have the same strokes", () => {
    const outlines = all.map((category) =>
      JSON.stringify(symbolStrokes(category).map(({ points, width }) => ({ points, width }))),
    );
    expect(new Set(outlines).size).toBe(8);
  });

  it.each(all)("stay inside the square they are drawn in, category %s", (category) => {
    const [, ...inner] = symbolStrokes(category);
    for (const { points, width } of inner) {
      for (const value of points.flat()) {
        expect(value - width / 2).toBeGreaterThanOrEqual(0);
        expect(value + width / 2).toBeLessThanOrEqual(24);
      }
    }
  });

  it("are standalone SVG that takes the size asked for and shares no ids with its neighbours", () => {
    const svg = symbolSvg(5, 48);
    expect(svg).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="48" height="48" viewBox="0 0 24 24">.*<\/svg>$/,
    );
    expect(svg).not.toContain(" id=");
  });

  it.skipIf(!hasProgram("rsvg-convert") || !hasProgram("gdal_translate")).each(all)(
    "look the same as PNG as where librsvg draws the SVG, category %s",
    (category) => {
      const folder = temporaryFolder();
      const path = (name: string): string => join(folder, name);
      writeFileSync(path("ours.png"), symbolPng(category));
      writeFileSync(path("symbol.svg"), symbolSvg(category));
      run("rsvg-convert", ["-w", "64", "-h", "64", "-o", path("theirs.png"), path("symbol.svg")]);
      // Bands one after the other, a byte a pixel.
      const [ours, theirs] = ["ours", "theirs"].map((name) => {
        run("gdal_translate", [
          "-q",
          "-of",
          "ENVI",
          "-co",
          "INTERLEAVE=BSQ",
          path(`${name}.png`),
          path(name),
        ]);
        return readFileSync(path(name));
      }) as [Buffer, Buffer];
      expect(ours).toHaveLength(64 * 64 * 4);
      expect(theirs).toHaveLength(64 * 64 * 4);
      const alpha = (picture: Buffer, pixel: number): number => (picture[3 * 64 * 64 + pixel] ?? 0) / 255;
      let difference = 0;
      for (let pixel = 0; pixel < 64 * 64; pixel++)
        for (let band = 0; band < 3; band++) {
          const at = band * 64 * 64 + pixel;
          const [one = 0, other = 0] = [ours[at], theirs[at]];
          difference += Math.abs(one * alpha(ours, pixel) - other * alpha(theirs, pixel));
        }
      // Of 255: edges differ by a shade, nothing else.
      expect(difference / (64 * 64 * 3)).toBeLessThan(4);
      expect(alpha(ours, 0)).toBe(0);
      expect(alpha(ours, 32 * 64 + 4)).toBe(1);
    },
  );
});
