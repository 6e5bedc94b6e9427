import { describe, expect, test } from "vitest";
import { type Download, downloadFiles } from "../src/downloads.js";
import { WAYPOINT_WARNING } from "../src/programs.js";
import { makeAbout } from "./setup/places.js";

const download = (format: Download["format"], count: number): Download => ({
  path: `exports/haute-region/all.${format}`,
  format,
  region: "<Haute> & Région",
  category: null,
  count,
  bytes: 1_234_567,
});
const whole = { path: "places.gpkg", bytes: 5 };

function filesOf(exports: readonly Download[]): Map<string, string> {
  return new Map(downloadFiles(makeAbout(), exports, whole).map(({ path, text }) => [path, text]));
}

describe("the downloads table", () => {
  test("warns of files with too many waypoints for phones and GPS receivers, and of no others", () => {
    const [few, many] = [WAYPOINT_WARNING, WAYPOINT_WARNING + 1];
    const table = (count: number) =>
      JSON.parse(
        filesOf([download("gpx", count), download("es.kmz", count), download("csv", count)]).get(
          "downloads.json",
        ) ?? "",
      );
    const warned = (count: number): boolean[] =>
      table(count).files.map(({ tooManyForPhones }: { tooManyForPhones: boolean }) => tooManyForPhones);
    expect(warned(few)).toEqual([false, false, false]);
    expect(warned(many)).toEqual([true, true, false]);
  });

  test("shows the warning beside the file, in four languages", () => {
    const files = filesOf([download("simple.gpx", WAYPOINT_WARNING + 1)]);
    for (const path of ["downloads.html", "downloads.fr.html", "downloads.es.html", "downloads.ca.html"])
      expect(files.get(path)).toMatch(/>1[.,]2 MB<\/a> ⚠<\/td>/);
  });

  test("escapes what the source calls its regions, and saves under a name of our own", () => {
    const html = filesOf([download("csv", 3)]).get("downloads.html");
    expect(html).toContain("&lt;Haute&gt; &amp; Région");
    expect(html).toContain('download="places-haute-region-all.csv"');
    expect(html).not.toContain("<Haute>");
  });

  test("is a page without rows where there are no places", () => {
    expect(filesOf([download("gpx", 0)]).get("downloads.html")).not.toContain("<tbody>");
  });
});
