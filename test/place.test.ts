import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coordinateUnits, formatDecimal, hilbertKey, roundCoordinate, unitsToDegrees } from "../src/place.js";
import { anyLat, anyLon } from "./setup/places.js";

describe("a coordinate", () => {
  test.each([
    [0.12345678, 0.1234568],
    [-0.12345674, -0.1234567],
    [1e-9, 0],
    [-1e-9, 0],
    [-0, 0],
    [180, 180],
    [-90, -90],
  ])("%s is rounded to %s", (degrees, rounded) => {
    expect(roundCoordinate(degrees)).toBe(rounded);
  });

  test("is rounded once and for all, to a neighbour, with at most 7 decimals", () => {
    fc.assert(
      fc.property(fc.double({ min: -180, max: 180, noNaN: true }), (degrees) => {
        const rounded = roundCoordinate(degrees);
        expect(roundCoordinate(rounded)).toBe(rounded);
        expect(Math.abs(rounded - degrees)).toBeLessThanOrEqual(0.5000001e-7);
        expect(formatDecimal(rounded)).toMatch(/^-?\d{1,3}(\.\d{1,7})?$/);
        expect(Number(formatDecimal(rounded))).toBe(rounded);
      }),
    );
  });

  test("goes to whole units and back unchanged", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }), (units) => {
        expect(coordinateUnits(unitsToDegrees(units))).toBe(units);
      }),
    );
  });
});

describe("a number as text", () => {
  test.each([
    [0, "0"],
    [-0, "0"],
    [1e-7, "0.0000001"],
    [-1e-7, "-0.0000001"],
    [1.6e-7, "0.0000002"],
    [1e-9, "0"],
    [-1e-9, "0"],
    [2135, "2135"],
    [100, "100"],
    [-0.5, "-0.5"],
    [1e30, "1e+30"],
    [1.5e300, "1.5e+300"],
  ])("%s is written %s", (value, text) => {
    expect(formatDecimal(value)).toBe(text);
  });
});

describe("the canonical order", () => {
  /** The middle of cell (x, y) of a grid of 2^bits cells a side over the globe. */
  const cellKey = (bits: number, x: number, y: number): number => {
    const side = 2 ** bits;
    return Math.floor(
      hilbertKey(((x + 0.5) / side) * 360 - 180, ((y + 0.5) / side) * 180 - 90) / 4 ** (26 - bits),
    );
  };

  test.each([1, 2, 3, 5, 6])("visits every cell of a grid of 2^%i a side once", (bits) => {
    const side = 2 ** bits;
    const cells = Array.from({ length: side * side }, (_, cell) => ({
      x: cell % side,
      y: Math.floor(cell / side),
    }));
    const keys = cells.map(({ x, y }) => cellKey(bits, x, y));
    expect([...keys].sort((a, b) => a - b)).toEqual(cells.map((_, key) => key));
  });

  test.each([1, 2, 3, 5, 6])("goes from each cell of a grid of 2^%i a side to one beside it", (bits) => {
    const side = 2 ** bits;
    const byKey = new Map<number, { x: number; y: number }>();
    for (let x = 0; x < side; x++) for (let y = 0; y < side; y++) byKey.set(cellKey(bits, x, y), { x, y });
    for (let key = 1; key < side * side; key++) {
      const [here, before] = [byKey.get(key), byKey.get(key - 1)];
      if (here === undefined || before === undefined) throw new Error(`no cell has the key ${key}`);
      expect(Math.abs(here.x - before.x) + Math.abs(here.y - before.y)).toBe(1);
    }
  });

  test("has a whole key below 2^52 for every position on Earth, the edges included", () => {
    fc.assert(
      fc.property(anyLon, anyLat, (lon, lat) => {
        expect(hilbertKey(lon, lat)).toSatisfy(
          (key: number) => Number.isSafeInteger(key) && key >= 0 && key < 2 ** 52,
        );
      }),
    );
    const corners = [-180, 180].flatMap((lon) => [-90, 90].map((lat) => hilbertKey(lon, lat)));
    expect(new Set(corners).size).toBe(4);
  });

  test("tells positions apart that differ by a metre", () => {
    fc.assert(
      fc.property(anyLon, anyLat, (lon, lat) => {
        const other = lat > 0 ? lat - 1e-5 : lat + 1e-5;
        expect(hilbertKey(lon, other)).not.toBe(hilbertKey(lon, lat));
      }),
    );
  });
});
