import { describe, expect, it } from "vitest";
import { symbolStrokes, symbolSvg } from "../src/symbols.js";
import { categoryNumbers } from "../src/taxonomy.js";

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
});
