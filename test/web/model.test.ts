import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { formatNames } from "../../src/formats/index.js";
import { ageInDays } from "../../src/web/age.js";
import { formatDegrees, formatDms, formatUtm, utmOf } from "../../src/web/coordinates.js";
import { cutDocument, type ExportDocument } from "../../src/web/cut.js";
import { idOfAddress, matcher, readIndex, searchKey } from "../../src/web/model.js";
import { chooseLanguage, fill, languages, words } from "../../src/web/words.js";
import { ask } from "../setup/http.js";
import { madePlaces } from "../setup/madeplaces.js";
import { type BuiltRelease, buildRelease } from "../setup/release.js";
import { serve } from "../setup/serve.js";

describe("positions", () => {
  // PROJ 9 (gdaltransform), zone by zone; the last is Svalbard, whose zones are of their own.
  test.each([
    [-1.44691, 43, 30, "T", 626590.915, 4761985.064],
    [1.63878, 42.61846, 31, "T", 388364.288, 4719344.859],
    [3.07878, 42.42658, 31, "T", 506480.616, 4697143.686],
    [-69.6, -33.4, 19, "H", 444204.374, 6304206.768],
    [15.5, 78.2, 33, "X", 511414.18, 8680738.603],
  ])("%f %f is in UTM what PROJ says, to the millimetre", (lon, lat, zone, band, easting, northing) => {
    const utm = utmOf(lon, lat);
    expect([utm?.zone, utm?.band]).toEqual([zone, band]);
    expect(Math.abs((utm?.easting ?? 0) - easting)).toBeLessThan(0.002);
    expect(Math.abs((utm?.northing ?? 0) - northing)).toBeLessThan(0.002);
  });

  test("never show sixty seconds, and name the hemisphere", () => {
    expect(formatDms(1.9999999, -0.9999999)).toBe(`1°00'00.0"S 2°00'00.0"E`);
    expect(formatDms(1.63878, 42.61846)).toBe(`42°37'06.5"N 1°38'19.6"E`);
    expect(formatDegrees(-1.44691, 43)).toBe("43.00000, -1.44691");
    expect(formatUtm(1.63878, 42.61846)).toBe("31T 388364 4719345");
    expect(formatUtm(0, 85)).toBeNull();
  });
});

describe("the search", () => {
  const places = readIndex([
    [1, "Refuge de l'Étang d'Araing", 0.9, 42.8, 5, "Occitanie", "Sentein", 1965, 52, null],
    [2, "Cabaña d'Ordesa", 0.1, 42.6, 2, "Aragon", "", null, null, null],
  ]);
  const found = (search: string) =>
    places.filter(matcher({ categories: new Set(), region: null, search })).map(({ id }) => id);

  test("ignores accents, case and apostrophes, and takes words from their beginning", () => {
    expect(searchKey("L'Œuvre  d’ÉTÉ")).toBe("l oeuvre d ete");
    expect(found("etang ARAING")).toEqual([1]);
    expect(found("sentein")).toEqual([1]);
    expect(found("cabana d'ordesa")).toEqual([2]);
    expect(found("tang")).toEqual([]);
    expect(found(" ")).toEqual([1, 2]);
  });

  test("reads both forms of a shared address", () => {
    expect(idOfAddress({ hash: "#12", search: "" })).toBe(12);
    expect(idOfAddress({ hash: "", search: "?id=7" })).toBe(7);
    expect(idOfAddress({ hash: "#x", search: "?id=1x" })).toBeNull();
  });
});

describe("words", () => {
  test("are there in every language, with the same gaps", () => {
    const gaps = (text: string): string[] => text.match(/\{\w+\}/g)?.sort() ?? [];
    for (const language of languages)
      for (const [word, text] of Object.entries(words.en)) {
        const own = Object.entries(words[language]).find(([key]) => key === word)?.[1] ?? "";
        expect(own.trim(), `${word} in ${language}`).not.toBe("");
        expect(gaps(own), `${word} in ${language}`).toEqual(gaps(text));
      }
  });

  test("come in the language that the visitor likes best", () => {
    expect(chooseLanguage(["de-DE", "ca-ES", "es"])).toBe("ca");
    expect(chooseLanguage(["de"])).toBe("en");
    expect(fill("{n} of {m}", { n: 3 })).toBe("3 of {m}");
    expect(ageInDays("2026-01-01T00:00:00Z", Date.parse("2026-01-04T12:00:00Z"))).toBe(3);
  });
});

describe("a document that the page cuts itself", () => {
  let release: BuiltRelease;
  let address: string;
  let whole: ExportDocument;
  let extraKeys: string[];
  beforeAll(async () => {
    release = await buildRelease(madePlaces(120));
    address = (await serve(release.site)).address;
    whole = JSON.parse(readFileSync(`${release.site}/exports/all/all.geojson`, "utf8"));
    ({ extraKeys } = JSON.parse(readFileSync(`${release.site}/page.json`, "utf8")));
  });

  test.each(formatNames)("is byte for byte what the endpoint answers, in %s", async (format) => {
    const box = { west: -1, south: 42.2, east: 2.5, north: 43.5 };
    const bbox = Object.values(box).join(",");
    const queries = [
      { search: "", region: null, category: null, box: null, some: {} },
      { search: "type_lieu=5&region=Aragón", region: "Aragón", category: 5, box: null, some: {} },
      { search: `bbox=${bbox}`, region: null, category: null, box, some: {} },
      { search: `bbox=${bbox}&type_lieu=5`, region: null, category: 5, box, some: {} },
      { search: `bbox=${bbox}&region=Aragón&type_lieu=2`, region: "Aragón", category: 2, box, some: {} },
      {
        search: `bbox=${bbox}&limit=7&offset=3`,
        region: null,
        category: null,
        box,
        some: { limit: 7, offset: 3 },
      },
      {
        search: "bbox=10,10,11,11",
        region: null,
        category: null,
        box: { west: 10, south: 10, east: 11, north: 11 },
        some: {},
      },
    ] as const;
    for (const { search, region, category, box: asked, some } of queries) {
      const answer = await ask(`${address}/api.php?format=${format}&${encodeURI(search)}`);
      const cut = cutDocument(whole, extraKeys, { format, bbox: asked, region, category, ...some });
      expect(answer.status).toBe(200);
      expect(cut.text, search).toBe(answer.text);
      expect(cut.mediaType).toBe(answer.headers["content-type"]);
      expect([String(cut.matched), String(cut.returned)]).toEqual([
        answer.headers["ogc-numbermatched"],
        answer.headers["ogc-numberreturned"],
      ]);
    }
  });
});
