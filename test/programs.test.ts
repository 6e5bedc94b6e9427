import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check as checkGeojson } from "@placemarkio/check-geojson";
import { parse as parseCsv } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import { unguardCell } from "../src/formats/csv.js";
import type { FileFormatName } from "../src/formats/index.js";
import type { Place } from "../src/place.js";
import {
  type Category,
  categories,
  categoryNumbers,
  categoryOfNumber,
  unknownCategory,
} from "../src/taxonomy.js";
import { type FilePath, writeExportFiles } from "./setup/exportfiles.js";
import { temporaryFolder } from "./setup/folders.js";
import { hostilePlaces, makeAbout, makePlace, samplePlaces, withSameExtraKeys } from "./setup/places.js";
import { hasProgram, hasPythonModule, python, run } from "./setup/system.js";
import { hasSchemas, xmlFaults } from "./setup/xml.js";

/** A place as another program sees it. */
interface Seen {
  readonly name: string;
  readonly lon: number;
  readonly lat: number;
  readonly category: Category | null;
}

type Row = ReturnType<typeof JSON.parse>;

const sample = samplePlaces();
const hostile = withSameExtraKeys(hostilePlaces());
const sets = {
  none: { places: [], extraKeys: [] },
  one: { places: [makePlace({ lon: -0.2125, altitude: null })], extraKeys: [] },
  sample: { places: sample, extraKeys: [] },
  hostile,
} as const;
type SetName = keyof typeof sets;
const setNames = Object.keys(sets) as SetName[];

let folder = "";
const files = new Map<SetName, FilePath>();

beforeAll(() => {
  folder = temporaryFolder();
  for (const name of setNames) {
    const { places, extraKeys } = sets[name];
    files.set(
      name,
      writeExportFiles(join(folder, name), places, makeAbout({ extraKeys, bbox: boxOf(places) })),
    );
  }
});

function fileOf(set: SetName, format: FileFormatName | "gpkg"): string {
  return files.get(set)?.(format) ?? "";
}

function boxOf(places: readonly Place[]) {
  if (places.length === 0) return null;
  const lons = places.map(({ lon }) => lon);
  const lats = places.map(({ lat }) => lat);
  return {
    west: Math.min(...lons),
    south: Math.min(...lats),
    east: Math.max(...lons),
    north: Math.max(...lats),
  };
}

/** What a program should see; `decimals` is what it keeps of a position. */
function expected(set: SetName, decimals = 7): Seen[] {
  return sets[set].places.map(({ name, lon, lat, category }) => ({
    name,
    lon: rounded(lon, decimals),
    lat: rounded(lat, decimals),
    category,
  }));
}

function rounded(degrees: number, decimals: number): number {
  return Number(degrees.toFixed(decimals)) + 0;
}

/** The category of a label in any language, as GPX names it. */
function categoryOfLabel(label: string): Category | null {
  const named = categoryNumbers.find((number) =>
    Object.values(categories[number].labels).some((one) => one === label),
  );
  if (named === undefined) expect(Object.values(unknownCategory.labels)).toContain(label);
  return named ?? null;
}

const gpxNames = ["gpx", "simple.gpx", "es.gpx", "ca.gpx", "en.gpx"] as const;
const kmlNames = ["kml", "kmz", "es.kmz", "ca.kmz", "en.kmz"] as const;

/** A file as GDAL reads it, in the file's order. */
function readByGdal(path: string, format: FileFormatName | "gpkg"): Seen[] {
  const isGpx = gpxNames.some((name) => name === format);
  const csvOptions = ["X_POSSIBLE_NAMES=longitude", "Y_POSSIBLE_NAMES=latitude"].flatMap((option) => [
    "-oo",
    option,
  ]);
  const text = run("ogr2ogr", [
    ...["-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=7", "/vsistdout/", path],
    ...(isGpx ? ["waypoints"] : []),
    ...(format === "csv" ? csvOptions : []),
  ]);
  return JSON.parse(text).features.map(({ geometry, properties }: Row) => ({
    name: unguardedIf(format === "csv", properties.name ?? properties.Name),
    lon: geometry.coordinates[0],
    lat: geometry.coordinates[1],
    category: isGpx ? categoryOfLabel(properties.type) : categoryOfNumber(properties.type_lieu),
  }));
}

function unguardedIf(isGuarded: boolean, text: string): string {
  return isGuarded ? unguardCell(text) : text;
}

const gdalFormats = ["geojson", "compact.geojson", "csv", ...gpxNames, ...kmlNames, "gpkg"] as const;
const hasGdal = hasProgram("ogr2ogr") && hasProgram("ogrinfo");

describe.skipIf(!hasGdal)("GDAL", () => {
  for (const set of ["one", "sample", "hostile"] as const) {
    test.each(gdalFormats)(`sees every name, position and category of the ${set} set in %s`, (format) => {
      const seen = readByGdal(fileOf(set, format), format);
      const decimals = format === "compact.geojson" ? 5 : 7;
      // A GeoPackage is a table: GDAL reads it by id.
      const ids = sets[set].places.map(({ id }) => id);
      const inOrder = expected(set, decimals);
      const sorted = inOrder.map((_, index) => index).sort((a, b) => (ids[a] ?? 0) - (ids[b] ?? 0));
      expect(seen).toEqual(format === "gpkg" ? sorted.map((index) => inOrder[index]) : inOrder);
    });
  }

  test.each(["geojson", "compact.geojson", ...gpxNames, ...kmlNames, "gpkg"] as const)(
    "opens %s without a place",
    (format) => {
      const layer = gpxNames.some((name) => name === format) ? ["waypoints"] : [];
      const info = run("ogrinfo", ["-so", "-al", fileOf("none", format), ...layer]);
      // LIBKML shows no layer of an empty document.
      if (kmlNames.some((name) => name === format))
        expect(info).toContain("using driver `LIBKML' successful");
      else expect(info).toContain("Feature Count: 0");
    },
  );

  test("finds the box, the terms and the spatial index in the GeoPackage, and nothing to complain about", () => {
    const path = fileOf("sample", "gpkg");
    const info = run("ogrinfo", ["-so", "-al", path]);
    expect(info).toContain("Extent: (-1.446910, 42.187140) - (3.078780, 43.298900)");
    expect(info).toContain("https://example.org/terms?a=1&b=2");
    expect(info).toContain('Nobody & sons, "made up"');
    expect(info).toContain("Data of 2026-01-02");
    expect(info).toMatch(/altitude_m: Real[\s\S]*capacity_summer: Integer/);
    const indexed = run("ogrinfo", ["-q", path, "-sql", "SELECT HasSpatialIndex('places', 'geom')"]);
    expect(indexed).toContain("HasSpatialIndex (Integer) = 1");
    const inBox = run("ogrinfo", ["-so", "-al", path, "-spat", "1.4", "42.4", "1.8", "42.7"]);
    const wanted = sample.filter(({ lon, lat }) => lon >= 1.4 && lon <= 1.8 && lat >= 42.4 && lat <= 42.7);
    expect(inBox).toContain(`Feature Count: ${wanted.length}`);
  });

  test("can edit a copy of the GeoPackage: its triggers keep the index true", () => {
    const path = join(folder, "edited.gpkg");
    writeFileSync(path, readFileSync(fileOf("sample", "gpkg")));
    run("ogrinfo", [
      path,
      "-dialect",
      "SQLITE",
      "-sql",
      "UPDATE places SET geom = MakePoint(10, 50, 4326) WHERE id = 1",
    ]);
    expect(run("ogrinfo", ["-so", "-al", path, "-spat", "9", "49", "11", "51"])).toContain(
      "Feature Count: 1",
    );
    run("ogrinfo", [path, "-sql", "DELETE FROM places WHERE id = 1"]);
    expect(run("ogrinfo", ["-so", "-al", path, "-spat", "9", "49", "11", "51"])).toContain(
      "Feature Count: 0",
    );
  });

  test.skipIf(!hasProgram("gdalinfo"))("reads the icons inside a KMZ as pictures with transparency", () => {
    for (const { kmlStyle } of [...Object.values(categories), unknownCategory]) {
      const info = run("gdalinfo", ["-checksum", `/vsizip/${fileOf("sample", "kmz")}/icons/${kmlStyle}.png`]);
      expect(info).toContain("Driver: PNG");
      expect(info).toContain("Size is 64, 64");
      expect(info).toContain("ColorInterp=Alpha");
      expect(info).not.toContain("ERROR");
    }
  });

  test("counts 20,000 places in every format", () => {
    const places = Array.from({ length: 20_000 }, (_, index) =>
      makePlace({
        id: index + 1,
        lon: -2 + (index % 500) / 100,
        lat: 42 + index / 20_000,
        category: ((index % 7) + 1) as Category,
      }),
    );
    const pathOf = writeExportFiles(join(folder, "many"), places, makeAbout());
    // JSON and NDJSON are no formats of GDAL: a record is a line.
    for (const format of ["json", "ndjson"] as const)
      expect(readFileSync(pathOf(format), "utf8").match(/^\{"name":/gm), format).toHaveLength(20_000);
    for (const format of [
      "geojson",
      "compact.geojson",
      "csv",
      "gpx",
      "simple.gpx",
      "kml",
      "kmz",
      "gpkg",
    ] as const) {
      const layer = format.endsWith("gpx") ? ["waypoints"] : [];
      expect(run("ogrinfo", ["-so", "-al", pathOf(format), ...layer]), format).toContain(
        "Feature Count: 20000",
      );
    }
  });
});

const hasBabel = hasProgram("gpsbabel");

describe.skipIf(!hasBabel)("GPSBabel", () => {
  const readCsv = (path: string) =>
    parseCsv(readFileSync(path), { columns: true }) as Record<string, string>[];

  test.each([...gpxNames, "kml"] as const)("sees all names, positions and symbols of %s", (format) => {
    const csv = join(folder, `babel-${format}.csv`);
    run("gpsbabel", [
      "-i",
      format === "kml" ? "kml" : "gpx",
      "-f",
      fileOf("sample", format),
      "-o",
      "unicsv",
      "-F",
      csv,
    ]);
    const rows = readCsv(csv);
    expect(rows.map(({ Name, Longitude, Latitude }) => [Name, Number(Longitude), Number(Latitude)])).toEqual(
      expected("sample", 6).map(({ name, lon, lat }) => [name, lon, lat]),
    );
    if (format !== "kml")
      expect(rows.map((row) => row["Symbol"])).toEqual(
        sample.map(
          ({ category }) => (category === null ? unknownCategory : categories[category]).garminSymbol,
        ),
      );
  });

  test("gives back from CSV the GPX that it was made of", () => {
    const [csv, gpx] = [join(folder, "there.csv"), join(folder, "back.gpx")];
    run("gpsbabel", ["-i", "gpx", "-f", fileOf("sample", "gpx"), "-o", "unicsv", "-F", csv]);
    run("gpsbabel", ["-i", "unicsv", "-f", csv, "-o", "gpx", "-F", gpx]);
    const names = [...readFileSync(gpx, "utf8").matchAll(/<name>([^<]*)<\/name>/g)].map(([, name]) => name);
    expect(names).toHaveLength(118);
    expect(names).toEqual(sample.map(({ name }) => name.replaceAll("&", "&amp;")));
  });

  test("reads hostile texts and empty documents to their end", () => {
    for (const [set, count] of [
      ["hostile", hostile.places.length],
      ["none", 0],
    ] as const) {
      const gpx = join(folder, `babel-${set}.gpx`);
      run("gpsbabel", ["-i", "gpx", "-f", fileOf(set, "gpx"), "-o", "gpx", "-F", gpx]);
      expect(readFileSync(gpx, "utf8").match(/<wpt /g) ?? []).toHaveLength(count);
    }
  });
});

const hasGpxpy = hasPythonModule("gpxpy");

describe.skipIf(!hasGpxpy)("gpxpy", () => {
  const script = `
import gpxpy, json, sys
def read(path):
  gpx = gpxpy.parse(open(path, encoding="utf-8"))
  return {"author": gpx.copyright_author, "license": gpx.copyright_license, "desc": gpx.description,
    "points": [[w.name, w.longitude, w.latitude, w.elevation, w.symbol, w.type] for w in gpx.waypoints]}
print(json.dumps([read(path) for path in sys.argv[1:]]))`;

  test.each(setNames)(
    "sees every waypoint of the %s set in every GPX flavour, and whose data they are",
    (set) => {
      const points = sets[set].places.map(({ name, lon, lat, altitude, category }) => {
        const look = category === null ? unknownCategory : categories[category];
        return [name, lon, lat, altitude, look.garminSymbol, category];
      });
      const all = JSON.parse(python(script, ...gpxNames.map((format) => fileOf(set, format))));
      expect(all).toHaveLength(gpxNames.length);
      for (const seen of all) {
        expect(seen.author).toBe('Nobody & sons, "made up"');
        expect(seen.license).toBe("https://example.org/terms?a=1&b=2");
        expect(seen.desc).toMatch(/2026-01-02.* 0123456789abcdef/);
        const read = seen.points.map(([name, lon, lat, ele, sym, type]: Row[]) => {
          return [name, lon, lat, ele, sym, categoryOfLabel(type)];
        });
        expect(read).toEqual(points);
      }
    },
  );
});

describe.skipIf(!hasProgram("jq"))("jq", () => {
  const fields = "{name, lon: .longitude, lat: .latitude, category: .type_lieu}";

  test.each(["none", "one", "sample", "hostile"] as const)(
    "sees every record of the %s set in JSON and NDJSON",
    (set) => {
      const json = JSON.parse(run("jq", ["-c", `map(${fields})`, fileOf(set, "json")]));
      const lines = JSON.parse(run("jq", ["-c", "-s", `map(${fields})`, fileOf(set, "ndjson")]));
      expect(json).toEqual(expected(set));
      expect(lines).toEqual(expected(set));
    },
  );
});

describe("Python", () => {
  const script = `
import csv, io, json, sqlite3, struct, sys, zipfile
from xml.etree import ElementTree
def placemarks(text):
  for mark in ElementTree.fromstring(text).iter(KML + "Placemark"):
    data = {one.get("name"): one.findtext(KML + "value") for one in mark.iter(KML + "Data")}
    lon, lat = mark.findtext(KML + "Point/" + KML + "coordinates").split(",")[:2]
    yield {"name": mark.findtext(KML + "name"), "longitude": float(lon), "latitude": float(lat), "type_lieu": data.get("type_lieu")}
def features(collection):
  for feature in collection["features"]:
    lon, lat = feature["geometry"]["coordinates"][:2]
    yield {**feature["properties"], "longitude": lon, "latitude": lat}
def table(database):
  for name, geom, category in database.execute("SELECT name, geom, type_lieu FROM places ORDER BY id"):
    lon, lat = struct.unpack("<dd", geom[-16:])
    yield {"name": name, "longitude": lon, "latitude": lat, "type_lieu": category}
KML = "{http://www.opengis.net/kml/2.2}"
kind, path = sys.argv[1:]
if kind == "ndjson": rows = [json.loads(line) for line in open(path, encoding="utf-8", newline="\\n")]
elif kind == "json": rows = json.load(open(path, encoding="utf-8"))
elif kind == "geojson": rows = list(features(json.load(open(path, encoding="utf-8"))))
elif kind == "kml": rows = list(placemarks(open(path, "rb").read()))
elif kind == "document": rows = list(placemarks(zipfile.ZipFile(path).read("doc.kml")))
elif kind == "gpkg":
  database = sqlite3.connect(path)
  assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
  assert database.execute("PRAGMA foreign_key_check").fetchall() == []
  rows = list(table(database))
elif kind == "kmz":
  archive = zipfile.ZipFile(path)
  assert archive.testzip() is None
  rows = archive.namelist()
else: rows = list(csv.DictReader(open(path, encoding="utf-8-sig", newline=""), delimiter=";", strict=True))
print(json.dumps(rows))`;
  const hasPython = hasPythonModule("json");

  const seenBy = (kind: string, set: SetName, format: FileFormatName | "gpkg"): Seen[] =>
    JSON.parse(python(script, kind, fileOf(set, format))).map((row: Row) => ({
      name: row.name,
      lon: row.longitude,
      lat: row.latitude,
      category: categoryOfNumber(row.type_lieu),
    }));

  test
    .skipIf(!hasPython)
    .each([
      ["json", "json"],
      ["ndjson", "ndjson"],
      ["geojson", "geojson"],
      ["geojson", "compact.geojson"],
      ["kml", "kml"],
      ...kmlNames.slice(1).map((format) => ["document", format] as const),
      ["gpkg", "gpkg"],
    ] as const)("sees every place, as %s, in %s", (kind, format) => {
    for (const set of setNames) {
      const inOrder = expected(set, format === "compact.geojson" ? 5 : 7);
      const byId = sets[set].places
        .map(({ id }, index) => ({ id, seen: inOrder[index] }))
        .sort((one, other) => one.id - other.id);
      const wanted = format === "gpkg" ? byId.map(({ seen }) => seen) : inOrder;
      expect(seenBy(kind, set, format)).toEqual(wanted);
    }
  });

  test.skipIf(!hasPython)("sees every row in the spreadsheet CSV, with decimal commas", () => {
    for (const set of setNames) {
      const rows = JSON.parse(python(script, "csv", fileOf(set, "excel.csv")));
      const number = (text: string): number => Number(text.replace(",", "."));
      expect(
        rows.map((row: Row) => ({
          name: unguardCell(row.name),
          lon: number(row.longitude),
          lat: number(row.latitude),
          category: categoryOfNumber(row.type_lieu),
        })),
      ).toEqual(expected(set));
    }
  });

  test.skipIf(!hasPython)("finds a KMZ whole, with the document first and an icon for each category", () => {
    for (const set of setNames) {
      const [first, ...icons] = JSON.parse(python(script, "kmz", fileOf(set, "kmz")));
      expect(first).toBe("doc.kml");
      expect(icons).toHaveLength(8);
    }
  });
});

describe("csv-parse in its strict mode", () => {
  test.each(setNames)("finds no fault in the CSV files of the %s set", (set) => {
    const strict = {
      columns: true,
      relax_quotes: false,
      relax_column_count: false,
      record_delimiter: "\r\n",
    } as const;
    const plain = parseCsv(readFileSync(fileOf(set, "csv")), strict);
    const excel = parseCsv(readFileSync(fileOf(set, "excel.csv")), { ...strict, bom: true, delimiter: ";" });
    expect(plain).toHaveLength(sets[set].places.length);
    expect(excel).toHaveLength(sets[set].places.length);
  });
});

describe("check-geojson", () => {
  test.each(setNames)("finds no fault in the GeoJSON files of the %s set", (set) => {
    for (const format of ["geojson", "compact.geojson"] as const) {
      const { type, ...rest } = checkGeojson(readFileSync(fileOf(set, format), "utf8"));
      expect(type).toBe("FeatureCollection");
      expect("features" in rest ? rest.features : []).toHaveLength(sets[set].places.length);
    }
  });

  test("would find one", () => {
    const broken = readFileSync(fileOf("one", "geojson"), "utf8").replace('"Point"', '"Pint"');
    expect(() => checkGeojson(broken)).toThrow();
  });
});

describe("libxml2", () => {
  const unpacked = (set: SetName, format: FileFormatName): string =>
    format.endsWith("kmz")
      ? run("unzip", ["-p", fileOf(set, format), "doc.kml"])
      : readFileSync(fileOf(set, format), "utf8");

  test.skipIf(!hasSchemas())("finds every GPX flavour valid", async () => {
    const documents = setNames.flatMap((set) => gpxNames.map((format) => unpacked(set, format)));
    expect(await xmlFaults(documents, "gpx")).toEqual([]);
  });

  test.skipIf(!hasSchemas() || !hasProgram("unzip"))("finds the document in every KMZ valid", async () => {
    const documents = setNames.flatMap((set) => kmlNames.map((format) => unpacked(set, format)));
    expect(await xmlFaults(documents, "kml")).toEqual([]);
    for (const document of documents) expect(document).not.toMatch(/<href>https?:/);
  });
});
