import { expect, test } from "vitest";
import {
  parseAltitude,
  parseCapacity,
  parseCount,
  parseMetres,
  parseWinterCapacity,
} from "../src/measures.js";

test.each([
  ["2135", 2135],
  ["1640m", 1640],
  ["1640 m", 1640],
  ["1640 mètres", 1640],
  ["2 135", 2135],
  ["2\u00a0135", 2135],
  ["1 870 ", 1870],
  ["1.925 ", 1925],
  ["1,925", 1925],
  ["+/- 1150", 1150],
  ["±1150", 1150],
  ["~ 1150", 1150],
  ["env. 1150", 1150],
  ["alt. 1150 m", 1150],
  ["1760m ?", 1760],
  ["950.5", 950.5],
  ["1234,25", 1234.25],
  ["8849", 8849],
  ["", null],
  [" ", null],
  ["0", null],
  ["8850", null],
  ["-12", null],
  ["1200-1300", null],
  ["1200 1300", null],
  ["12 135", null],
  ["1.92", null],
  ["0x10", null],
  ["1e3", null],
  ["vers 1200", null],
  ["idem", null],
  ["٢٠٠٠", null],
])("the altitude %j is read as %s", (text, metres) => {
  expect(parseAltitude(text)).toBe(metres);
});

test.each([
  ["12", 12],
  ["4 a 5", 5],
  ["4 à 5", 5],
  ["2 3", 3],
  ["2-3", 3],
  ["2/3", 3],
  ["15 env ", 15],
  ["~15", 15],
  ["8 places", 8],
  ["8 pers. max", 8],
  ["2000", 2000],
  ["", null],
  [" ", null],
  ["0", null],
  ["2001", null],
  ["0 ou 4", null],
  ["5 a 4", null],
  ["4 4", null],
  ["2 3 4", null],
  ["-3", null],
  ["3.5", null],
  ["idem", null],
  ["quelques", null],
])("the capacity %j is read as %s", (text, places) => {
  expect(parseCapacity(text)).toBe(places);
});

test("in winter, idem is as many as in summer", () => {
  expect(parseWinterCapacity(" Idem ", 12)).toBe(12);
  expect(parseWinterCapacity("idem", null)).toBeNull();
  expect(parseWinterCapacity("3", 12)).toBe(3);
  expect(parseWinterCapacity("idem 3", 12)).toBeNull();
});

test.each([
  [2135, 2135],
  [2135.5, 2135.5],
  ["2135.5", 2135.5],
  [" 2135 ", 2135],
  [0, null],
  [-1, null],
  [8849, 8849],
  [8849.1, null],
  ["1e3", null],
  ["", null],
  [Number.NaN, null],
  [Number.POSITIVE_INFINITY, null],
  [true, null],
  [[1], null],
  // Smaller than a millimetre would need an exponent, which GPX forbids.
  [1e-7, null],
  [1234.56789, 1234.568],
])("the number column of altitudes %j is read as %s", (value, metres) => {
  expect(parseMetres(value)).toBe(metres);
});

test.each([
  [12, 12],
  ["12", 12],
  [0, null],
  [-1, null],
  [2.5, null],
  [2000, 2000],
  [2001, null],
  [null, null],
  ["twelve", null],
])("the number column of capacities %j is read as %s", (value, places) => {
  expect(parseCount(value)).toBe(places);
});
