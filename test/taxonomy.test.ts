import { describe, expect, test } from "vitest";
import {
  appearanceOf,
  categories,
  categoryNumbers,
  categoryOfNumber,
  categoryOfSlug,
  unknownCategory,
} from "../src/taxonomy.js";

// The slugs that existing clients compare with, misspellings included, and the symbols that devices know.
const contract = [
  [1, "cabane fermee", "Building", "building", "square", "#616161", "placemark-gray", "Building"],
  [2, "cabane ouverte", "Residence", "special_house", "circle", "#2E7D32", "placemark-green", "Building"],
  [
    3,
    "cabane ouverte mais ocupee par le berger l ete",
    "Residence",
    "isolated_dwelling",
    "circle",
    "#F9A825",
    "placemark-yellow",
    "Building",
  ],
  [
    4,
    "orri toue abri en pierre",
    "Campground",
    "tourism_camp_site",
    "circle",
    "#6D4C41",
    "placemark-brown",
    "Mountain",
  ],
  [
    5,
    "refuge garde l ete partie hivernal",
    "Lodging",
    "tourism_hostel",
    "octagon",
    "#F57C00",
    "placemark-orange",
    "Hotel",
  ],
  [
    6,
    "refuge garde toute l annee",
    "Lodging",
    "tourism_hotel",
    "octagon",
    "#B71C1C",
    "placemark-red",
    "Hotel",
  ],
  [
    7,
    "ruine",
    "Ghost Town",
    "historic_archaeological_site",
    "square",
    "#455A64",
    "placemark-bluegray",
    "Sights",
  ],
] as const;

describe("categories", () => {
  test.each(contract)("%i is what existing clients and devices know", (number, slug, ...symbols) => {
    const { labels, ...category } = categories[number];
    expect(Object.values(category)).toEqual([slug, ...symbols]);
    expect(Object.keys(labels)).toEqual(["fr", "es", "ca", "en"]);
    expect(categoryOfNumber(number)).toBe(number);
    expect(categoryOfNumber(String(number))).toBe(number);
    expect(categoryOfSlug(slug)).toBe(number);
    expect(categoryOfSlug(` ${slug.toUpperCase()} `)).toBe(number);
    expect(appearanceOf(number)).toBe(categories[number]);
  });

  test("the list of numbers is the keys of the table", () => {
    expect(categoryNumbers.map(String)).toEqual(Object.keys(categories));
  });

  test.each([0, 8, 1.5, "0", "8", "01", " 1", "1.0", "", "all", null, undefined, true, [1], "constructor"])(
    "%j is no category",
    (value) => {
      expect(categoryOfNumber(value)).toBeNull();
    },
  );

  test.each(["", "cabane", "cabane fermée", "refuge"])("%j is no slug", (slug) => {
    expect(categoryOfSlug(slug)).toBeNull();
  });

  test("a place of no known category looks like none that is known", () => {
    const looks = categoryNumbers.map((number) => categories[number]);
    expect(looks.map(({ colour }): string => colour)).not.toContain(unknownCategory.colour);
    expect(looks.map(({ kmlStyle }): string => kmlStyle)).not.toContain(unknownCategory.kmlStyle);
    expect(appearanceOf(null)).toBe(unknownCategory);
  });
});
