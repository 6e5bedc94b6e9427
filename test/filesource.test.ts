import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formats } from "../src/formats/index.js";
import type { Provenance } from "../src/place.js";
import { bundledPlaces } from "../src/program.js";
import { file } from "../src/sources/file.js";
import { documentOf } from "./setup/documents.js";
import { temporaryFolder } from "./setup/folders.js";
import { makeAbout, makePlace } from "./setup/places.js";

interface Read {
  readonly records: unknown[];
  readonly about: Partial<Provenance>;
  readonly warnings: readonly string[];
}

async function readFile(path: string): Promise<Read> {
  const records: unknown[] = [];
  const warnings: string[] = [];
  let about: Partial<Provenance> = {};
  for await (const item of file.pull(path)) {
    if ("about" in item) about = { ...about, ...item.about };
    else if ("record" in item) records.push(item.record);
    else warnings.push(item.warning.text);
  }
  return { records, about, warnings };
}

function write(name: string, content: string | Buffer): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

const rows = [
  { id: "1", name: "Orri", longitude: "1.5", latitude: "42.5" },
  { id: "2", name: 'L\'Été, "haut"', longitude: "-0.5", latitude: "43" },
];
const csvText = `id,name,longitude,latitude\n1,Orri,1.5,42.5\n2,"L'Été, ""haut""",-0.5,43\n`;

const geojson = documentOf("geojson", [makePlace()], makeAbout());

/** A collection as QGIS writes it unless it is told to keep to RFC 7946. */
const inSystem = (name: unknown): string =>
  geojson.replace("{", `{"crs":{"type":"name","properties":{"name":${JSON.stringify(name)}}},`);

describe("a file that is read", () => {
  test.each([
    ["CSV", csvText, rows],
    ["CSV with CRLF", csvText.replaceAll("\n", "\r\n"), rows],
    ["CSV with a byte order mark", `\ufeff${csvText}`, rows],
    ["CSV without a last line end", csvText.trimEnd(), rows],
    ["CSV with empty lines", `\n\n${csvText.replaceAll("\n", "\n\n")}`, rows],
    ["a JSON array", JSON.stringify(rows), rows],
    ["a JSON array behind a byte order mark and blanks", `\ufeff \r\n ${JSON.stringify(rows)} \n`, rows],
    ["a FeatureCollection", JSON.stringify({ type: "FeatureCollection", features: rows }), rows],
    [
      "a FeatureCollection with lists and objects before and after",
      JSON.stringify({
        a: [1, [2]],
        b: { features: [3] },
        features: [...rows, [[4]], 5, null],
        c: [{ d: [] }],
      }),
      [...rows, [[4]], 5, null],
    ],
    ["an empty list", "[]", []],
    ["an empty collection", '{"type":"FeatureCollection","features":[]}', []],
  ])("%s", async (_name, text, records) => {
    expect((await readFile(write("places.txt", text))).records).toEqual(records);
  });

  test("the layout of the known service, in escaped ASCII", async () => {
    const text = `{"type":"FeatureCollection","generator":"x","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[0.1,42.7]},"properties":{"name":"Caba\\u00f1a \\ud83c\\udfda","url":"http:\\/\\/www.pyrenees-refuges.com\\/fr\\/affiche.php?numenr=9"}}]}`;
    const { records } = await readFile(write("places.geojson", text));
    expect(records).toEqual(JSON.parse(text).features);
  });

  test("our own CSV, with the guards against formulas taken off names and values", async () => {
    const place = makePlace({ name: "=1+1", comment: "'-x", extra: [["=key", "@y"]] });
    const about = makeAbout({ extraKeys: ["=key"] });
    const { records } = await readFile(write("places.csv", documentOf("csv", [place], about)));
    expect(records).toEqual([expect.objectContaining({ name: "=1+1", commentaire: "'-x", "=key": "@y" })]);
  });

  test.each([
    "urn:ogc:def:crs:OGC:1.3:CRS84",
    "urn:ogc:def:crs:OGC::CRS84",
    "EPSG:4326",
    "urn:ogc:def:crs:EPSG::4326",
    "http://www.opengis.net/def/crs/EPSG/0/4258",
  ])("GeoJSON whose positions are said to be in %s", async (system) => {
    const { records } = await readFile(write("places.geojson", inSystem(system)));
    expect(records).toEqual(JSON.parse(geojson).features);
  });

  test("another CSV, as it stands", async () => {
    const { records } = await readFile(write("places.csv", "id,name,longitude,latitude\n1,'=x,1,42\n"));
    expect(records).toEqual([{ id: "1", name: "'=x", longitude: "1", latitude: "42" }]);
  });

  test("text over every chunk boundary: a thousand long places, accents and emoji everywhere", async () => {
    const places = Array.from({ length: 1000 }, (_, index) =>
      makePlace({ id: index + 1, name: `Été ${index}`, comment: "é🏚\n".repeat(100 + (index % 7)) }),
    );
    for (const name of ["geojson", "json", "csv"] as const) {
      const text = documentOf(name, places, makeAbout());
      expect(Buffer.byteLength(text)).toBeGreaterThan(5 * 64 * 1024);
      const { records } = await readFile(write(`places.${name}`, text));
      const fields = records.map((record) =>
        name === "geojson" ? (record as { properties: object }).properties : record,
      );
      expect(fields).toMatchObject(places.map((place) => ({ name: place.name, commentaire: place.comment })));
    }
  });
});

describe("a file that is refused", () => {
  test.each<[string, string | Buffer, RegExp]>([
    ["is empty", "", /is empty/],
    ["is blank", " \n\ufeff\n", /is empty/],
    [
      "is HTML, as a service in trouble sends it",
      "\n<!DOCTYPE html><p>Erreur</p>",
      /HTML or XML.*<!DOCTYPE html>/,
    ],
    ["is XML", formats.gpx.prologue(makeAbout()), /HTML or XML/],
    ["is JSON cut off inside a text", geojson.slice(0, 300), /read to its end/],
    ["is JSON cut off between places", geojson.slice(0, geojson.indexOf("\n]}")), /read to its end/],
    ["is JSON with something behind", `${geojson}{}`, /read to its end/],
    ["is JSON with a fault", '[{"id":1},}]', /read to its end/],
    ["is JSON without a list", '{"error":"down","code":500}', /members error, code/],
    ["is a lone Feature", '{"type":"Feature","geometry":null,"properties":{}}', /neither a JSON array/],
    ["is CSV of something else", "a,b\n1,2\n", /header must name.*it names a, b/],
    [
      "is CSV with semicolons",
      "id;name;longitude;latitude\n1;Orri;1,5;42,5\n".replaceAll(",", "."),
      /header must name/,
    ],
    [
      "is CSV with two columns for one coordinate",
      "id,name,longitude,latitude,longitude\n1,Orri,1,42,9\n",
      /more than one column called "longitude"/,
    ],
    ["is CSV of something else without a row", "a,b\n", /header must name/],
    ...["urn:ogc:def:crs:EPSG::4230", "EPSG:25830", "urn:ogc:def:crs:OGC:1.3:CRS27", 4326].map(
      (system): [string, string, RegExp] => [
        `has its positions in ${system}`,
        inSystem(system),
        /not in WGS84: they would be read as other places/,
      ],
    ),
    [
      "has its positions in a system that a link tells",
      geojson.replace("{", '{"crs":{"type":"link"},'),
      /"link"/,
    ],
    [
      "has its system behind its places",
      geojson.replace(/\]\}\n$/, '],"crs":{"properties":{"name":"EPSG:4230"}}}'),
      /4230/,
    ],
    ["is CSV with an open quote", `${csvText}3,"open,1,42\n`, /read to its end/],
    ["is CSV with a short row", `${csvText}3,x\n`, /read to its end/],
    [
      "is not UTF-8",
      Buffer.from("id,name,longitude,latitude\n1,\xc9t\xe9,1,42\n", "latin1"),
      /read to its end/,
    ],
    ["is UTF-16", Buffer.from(`\ufeff${csvText}`, "utf16le"), /read to its end/],
    ["ends inside a character", Buffer.from(`${csvText}3,é`).subarray(0, -1), /read to its end/],
  ])("because it %s", async (_name, content, message) => {
    await expect(readFile(write("places.txt", content))).rejects.toMatchObject({
      name: "UserError",
      code: "source",
      message: expect.stringMatching(message),
    });
  });

  test("because it is not there, or is a folder", async () => {
    const folder = temporaryFolder();
    await expect(readFile(join(folder, "none.csv"))).rejects.toMatchObject({
      code: "source",
      message: expect.stringMatching(/no file .*none\.csv/),
    });
    await expect(readFile(folder)).rejects.toMatchObject({
      code: "source",
      message: expect.stringMatching(/is a folder/),
    });
  });
});

describe("what a file says of itself", () => {
  test("comes from the companion beside it", async () => {
    const path = write("huts.csv", csvText);
    const said = { title: "Huts", attribution: "Club", license: "Ask", date: "2020-02-03T00:00:00Z" };
    writeFileSync(path.replace(".csv", ".about.json"), JSON.stringify({ ...said, more: 1 }));
    expect((await readFile(path)).about).toEqual(said);
  });

  test("comes from a collection's own members", async () => {
    const about = makeAbout();
    const { title, attribution, license, date } = about;
    const path = write("huts.geojson", documentOf("geojson", [makePlace()], about));
    expect((await readFile(path)).about).toEqual({ title, attribution, license, date });
  });

  test("is at least the date of the file, in whole seconds", async () => {
    const path = write("huts.csv", csvText);
    utimesSync(path, new Date(), new Date("2021-05-06T07:08:09.876Z"));
    expect((await readFile(path)).about).toEqual({ date: "2021-05-06T07:08:09Z" });
  });

  test("is refused where the companion is damaged", async () => {
    const path = write("huts.csv", csvText);
    writeFileSync(path.replace(".csv", ".about.json"), "{");
    await expect(readFile(path)).rejects.toMatchObject({
      code: "source",
      message: expect.stringContaining("about"),
    });
  });

  test.each(["20 Nov 2026", "2026", "2026-02-30", 1763683200, "2026-11-20T25:00:00Z"])(
    "has no date where it has %j: that of a companion is refused, that of a collection passed over and said",
    async (date) => {
      const path = write("huts.csv", csvText);
      writeFileSync(path.replace(".csv", ".about.json"), JSON.stringify({ date }));
      await expect(readFile(path)).rejects.toMatchObject({ message: expect.stringMatching(/ISO 8601/) });
      const collection = write("huts.geojson", JSON.stringify({ timeStamp: date, features: [] }));
      utimesSync(collection, new Date(), new Date("2021-05-06T07:08:09Z"));
      const { about, warnings } = await readFile(collection);
      expect(about).toEqual({ date: "2021-05-06T07:08:09Z" });
      expect(warnings).toEqual([expect.stringMatching(/ISO 8601/)]);
    },
  );

  test("is not taken from a folder whose name has a dot", async () => {
    const folder = join(temporaryFolder(), "v1.2");
    mkdirSync(folder);
    writeFileSync(join(folder, "huts"), csvText);
    writeFileSync(join(folder, "..", "v1.about.json"), '{"title":"wrong"}');
    expect((await readFile(join(folder, "huts"))).about).not.toHaveProperty("title");
  });
});

describe("standard input", () => {
  /** Runs the program as users do, with input that comes in pieces. */
  async function pullStdin(
    pieces: Iterable<Buffer>,
  ): Promise<{ code: number | null; out: string; err: string }> {
    const database = join(temporaryFolder(), "places.sqlite");
    const child = spawn(process.execPath, [
      "dist/app/cli.js",
      "--json",
      "pull",
      "--from",
      "-",
      "--database",
      database,
    ]);
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
    for (const piece of pieces) {
      child.stdin.write(piece);
      await new Promise(setImmediate);
    }
    child.stdin.end();
    return { code: await closed, out, err };
  }

  test("is read, whatever the pieces it comes in: the bundled places, 7 bytes at a time", async () => {
    const bytes = readFileSync(bundledPlaces);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.subarray(index * 7, index * 7 + 7),
    );
    const { code, out } = await pullStdin(pieces);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ read: 118, places: 118, repaired: {} });
  });

  test("is read byte by byte through accents, emoji and a byte order mark", async () => {
    const text = `\ufeff${JSON.stringify([{ id: 1, name: "Été 🏚", longitude: 1, latitude: 42, type_lieu: 4, region: "Çà" }])}`;
    const { code, out } = await pullStdin([...Buffer.from(text)].map((byte) => Buffer.from([byte])));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ places: 1, repaired: {}, refused: {} });
  });

  test("that is empty is a fault of the source", async () => {
    const { code, out, err } = await pullStdin([]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toContain("standard input is empty");
  });
});
