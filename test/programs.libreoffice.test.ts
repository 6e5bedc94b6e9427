import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { unguardCell } from "../src/formats/csv.js";
import { propertyNames } from "../src/formats/properties.js";
import { writeExportFiles } from "./setup/exportfiles.js";
import { temporaryFolder } from "./setup/folders.js";
import { hostilePlaces, makeAbout, makePlace, samplePlaces, withSameExtraKeys } from "./setup/places.js";
import { hasProgram, run } from "./setup/system.js";
import { unescapeXml } from "./setup/xml.js";

// The spreadsheet of a French office, without a screen: `.excel.csv` as a double click opens it, `.csv` with English settings.
const FRENCH = "CSV:59,34,76,1,,1036,false,true";
const ENGLISH = "CSV:44,34,76,1,,1033,false,true";

const sample = samplePlaces();
const hostile = withSameExtraKeys(hostilePlaces());
const dayLike = makePlace({
  name: "10:30",
  summerText: "12/5",
  winterText: "2-3",
  altitudeText: "1.2.2003",
  altitude: 1925,
});

/** A cell as the spreadsheet holds it. */
interface Cell {
  readonly kind: "float" | "string" | "empty" | "other";
  readonly value: string;
}

/** Cells of a flat OpenDocument sheet; a formula anywhere is a fault. */
function readSheet(xml: string): Cell[][] {
  return [...xml.matchAll(/<table:table-row[^>]*>([\s\S]*?)<\/table:table-row>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>([\s\S]*?)<\/table:table-cell>)/g)].flatMap(
      ([, attributes = "", content = ""]) => {
        const repeated = Number(/number-columns-repeated="(\d+)"/.exec(attributes)?.[1] ?? 1);
        const type = /office:value-type="([^"]*)"/.exec(attributes)?.[1] ?? "empty";
        const number = /office:value="([^"]*)"/.exec(attributes)?.[1] ?? "";
        const text = [...content.matchAll(/<text:p>([\s\S]*?)<\/text:p>/g)].map(([, line = ""]) =>
          textOf(line),
        );
        const kind = type === "float" || type === "string" || type === "empty" ? type : "other";
        return Array<Cell>(Math.min(repeated, 100)).fill({
          kind,
          value: kind === "float" ? number : text.join("\n"),
        });
      },
    ),
  );
}

/** Text of a paragraph: runs of spaces and tabs are elements of their own. */
function textOf(paragraph: string): string {
  const spaced = paragraph.replace(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count = 1) =>
    " ".repeat(Number(count)),
  );
  return unescapeXml(spaced.replaceAll("<text:tab/>", "\t").replace(/<[^>]*>/g, ""));
}

describe.skipIf(!hasProgram("soffice"))("LibreOffice", () => {
  let folder = "";
  const sheets = new Map<string, string>();

  beforeAll(() => {
    folder = temporaryFolder();
    const ofSample = writeExportFiles(join(folder, "sample"), sample, makeAbout());
    const ofHostile = writeExportFiles(
      join(folder, "hostile"),
      hostile.places,
      makeAbout({ extraKeys: hostile.extraKeys }),
    );
    const inputs = { sample: ofSample, hostile: ofHostile };
    const french: string[] = [];
    const english: string[] = [];
    for (const [name, pathOf] of Object.entries(inputs)) {
      for (const [format, list] of [
        ["excel.csv", french],
        ["csv", english],
      ] as const) {
        const path = join(folder, `${name}-${format.replace(".", "-")}.csv`);
        writeFileSync(path, readFileSync(pathOf(format)));
        list.push(path);
      }
    }
    const days = join(folder, "days.csv");
    writeFileSync(
      days,
      readFileSync(writeExportFiles(join(folder, "days"), [dayLike], makeAbout())("excel.csv")),
    );
    french.push(days);
    const control = join(folder, "control.csv");
    writeFileSync(control, "name,sum\r\nunguarded,=1+1\r\nday,3/4\r\n");
    english.push(control);
    for (const [filter, paths] of [
      [FRENCH, french],
      [ENGLISH, english],
    ] as const) {
      run("soffice", [
        `-env:UserInstallation=file://${folder}/profile`,
        "--headless",
        `--infilter=${filter}`,
        ...["--convert-to", "fods", "--outdir", join(folder, "out")],
        ...paths,
      ]);
    }
    for (const name of [
      "sample-excel-csv",
      "sample-csv",
      "hostile-excel-csv",
      "hostile-csv",
      "days",
      "control",
    ])
      sheets.set(name, readFileSync(join(folder, "out", `${name}.fods`), "utf8"));
  });

  test.each(["sample-excel-csv", "sample-csv"])(
    "shows all 118 names, and positions and altitudes as numbers: %s",
    (name) => {
      const [head = [], ...rows] = readSheet(sheets.get(name) ?? "");
      const column = (key: string): number => head.findIndex(({ value }) => value === key);
      expect(head.slice(0, propertyNames.length).map(({ value }) => value)).toEqual([...propertyNames]);
      const seen = rows.slice(0, sample.length).map((row) => ({
        name: row[column("name")],
        lon: row[column("longitude")],
        lat: row[column("latitude")],
        category: row[column("type_lieu")],
        altitude: row[column("altitude_m")],
      }));
      const number = (value: number): Cell => ({ kind: "float", value: String(value) });
      expect(seen).toEqual(
        sample.map((place) => ({
          name: { kind: "string", value: place.name },
          lon: number(place.lon),
          lat: number(place.lat),
          category: number(place.category ?? 0),
          altitude: place.altitude === null ? { kind: "empty", value: "" } : number(place.altitude),
        })),
      );
      expect(sample.some(({ lon }) => lon < 0)).toBe(true);
      expect(sample.some(({ name }) => /[éèçñàï]/.test(name))).toBe(true);
    },
  );

  test.each(["hostile-excel-csv", "hostile-csv"])(
    "runs no formula of hostile texts and keeps rows and names: %s",
    (name) => {
      const xml = sheets.get(name) ?? "";
      expect(xml).not.toContain("table:formula");
      const [, ...rows] = readSheet(xml);
      const names = rows.slice(0, hostile.places.length).map(([cell]) => unguardCell(cell?.value ?? ""));
      expect(names).toEqual(hostile.places.map((place) => place.name));
    },
  );

  test("keeps capacities and altitudes that look like days and times as somebody wrote them", () => {
    const [head = [], row = []] = readSheet(sheets.get("days") ?? "");
    const cell = (key: string): Cell | undefined => row[head.findIndex(({ value }) => value === key)];
    const text = (value: string): Cell => ({ kind: "string", value: `'${value}` });
    expect(cell("name")).toEqual(text("10:30"));
    expect(cell("cap_ete")).toEqual(text("12/5"));
    expect(cell("cap_hiver")).toEqual(text("2-3"));
    expect(cell("altitude")).toEqual(text("1.2.2003"));
    expect(cell("altitude_m")).toEqual({ kind: "float", value: "1925" });
  });

  test("would run a formula and change a day that are not guarded", () => {
    expect(sheets.get("control")).toContain("table:formula");
    expect(sheets.get("control")).toContain('office:value-type="date"');
  });
});
