import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { SAMPLE_SIZE, WRONG_REQUEST } from "../src/contract.js";
import { formatNames, formats } from "../src/formats/index.js";
import { readManifest } from "../src/manifest.js";
import { pull } from "../src/pull.js";
import { temporaryFolder } from "./setup/folders.js";
import { rebuild } from "./setup/release.js";
import { serve, type TestServer } from "./setup/serve.js";

const folder = temporaryFolder();
const site = join(folder, "site");
let server: TestServer;

beforeAll(async () => {
  const database = join(folder, "places.sqlite");
  await pull({ from: "data/places.csv", database, force: false, about: {}, onProgress: () => {} });
  await rebuild(database, site);
  server = await serve(site);
});

function read(path: string): string {
  return readFileSync(join(site, path), "utf8");
}

/** Runs the TypeScript compiler of the project; throws with its complaints. */
function compile(folder: string, args: readonly string[]): void {
  const compiler = join(process.cwd(), "node_modules/typescript/bin/tsc");
  try {
    execFileSync(process.execPath, [compiler, "--strict", "--target", "es2022", "--types", "", ...args], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    throw new Error(error instanceof Error && "stdout" in error ? String(error.stdout) : String(error));
  }
}

describe("the OpenAPI document", () => {
  test("is valid", async () => {
    await expect(SwaggerParser.validate(JSON.parse(read("contract/openapi.json")))).resolves.toBeDefined();
  });

  test("has nothing that Spectral's rules for OpenAPI complain about", async () => {
    const linter = new spectral.Spectral();
    // Who runs a release is not known to the program: it cannot name a contact.
    linter.setRuleset({
      extends: [rulesets.oas as spectral.RulesetDefinition],
      rules: { "info-contact": "off" },
    });
    expect(await linter.run(read("contract/openapi.json"))).toEqual([]);
    const broken = read("contract/openapi.json").replace('"default": 10000', '"default": "many"');
    expect((await linter.run(broken)).map(({ code }) => code)).toContain("oas3-valid-schema-example");
  });

  test("is the one that the server names", async () => {
    expect(read("contract/openapi.json")).toBe(read("openapi.json"));
  });
});

describe("a client that a public generator makes of the OpenAPI document", () => {
  test("compiles, and gets places", async () => {
    const client = join(folder, "client");
    const generator = join(process.cwd(), "node_modules/openapi-typescript-codegen/bin/index.js");
    const options = [
      "--input",
      join(site, "contract/openapi.json"),
      "--output",
      join(client, "src"),
      "--client",
      "fetch",
    ];
    execFileSync(process.execPath, [generator, ...options]);
    writeFileSync(join(client, "package.json"), '{"type":"commonjs"}');
    writeFileSync(
      join(client, "src/main.ts"),
      `import { OpenAPI, PlacesService } from "./index";
export async function places(base: string): Promise<string[]> {
  OpenAPI.BASE = base;
  const records = await PlacesService.getPlaces("json", "json", "1,42,2,43", "5", "Andorre", 2);
  return records.map(({ name, altitude_m, longitude }) => \`\${name} \${altitude_m ?? "?"} \${longitude > 0}\`);
}
`,
    );
    const modules = ["--module", "commonjs", "--moduleResolution", "bundler", "--lib", "es2022,dom"];
    compile(client, [...modules, "--rootDir", "src", "--outDir", "out", "src/main.ts"]);
    const { places } = createRequire(join(client, "package.json"))("./out/main.js");
    const seen: string[] = await places(server.address);
    const answer = await fetch(
      `${server.address}/api.php?format=json&bbox=1,42,2,43&type_lieu=5&region=Andorre&limit=2`,
    );
    const records: { name: string; altitude_m: number }[] = JSON.parse(await answer.text());
    expect(records).toHaveLength(2);
    expect(seen).toEqual(records.map(({ name, altitude_m }) => `${name} ${altitude_m} true`));
  });
});

describe("the JSON Schema of a record", () => {
  const validator = () =>
    new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
      JSON.parse(read("contract/record.schema.json")),
    );

  test("accepts every record of the JSON and NDJSON exports", () => {
    const validate = validator();
    const records: unknown[] = JSON.parse(read("exports/all/all.json"));
    const lines = read("exports/all/all.ndjson")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(records);
    expect(records).toHaveLength(118);
    for (const record of records) expect(validate(record), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each([
    ["a text where a number belongs", { longitude: "1.5" }],
    ["no name", { name: undefined }],
    ["a category that is none", { type_lieu: 8 }],
    ["null where a text belongs", { url: null }],
  ])("refuses %s", (_, change) => {
    const [record] = JSON.parse(read("exports/all/all.json"));
    expect(validator()(JSON.parse(JSON.stringify({ ...record, ...change })))).toBe(false);
  });
});

describe("the TypeScript types", () => {
  const check = (name: string, source: string): void => {
    const place = join(folder, name);
    mkdirSync(place);
    writeFileSync(join(place, "places.d.ts"), read("contract/places.d.ts"));
    writeFileSync(join(place, "main.ts"), source);
    compile(place, ["--noEmit", "--module", "nodenext", "main.ts", "places.d.ts"]);
  };
  const imports = 'import type { PlaceCollection, PlaceRecord, Problem } from "./places.js";';

  test("fit the samples", () => {
    const [records, collection, problem] = ["sample.json", "sample.geojson", "error.json"].map((name) =>
      read(`contract/${name}`),
    );
    check(
      "fits",
      `${imports}\nexport const records: PlaceRecord[] = ${records};\nexport const collection: PlaceCollection = ${collection};\nexport const problem: Problem = ${problem};\n`,
    );
  });

  test("do not fit anything else", () => {
    const [record] = JSON.parse(read("contract/sample.json"));
    const wrong = JSON.stringify({ ...record, type_lieu: 9 });
    expect(() => check("unfit", `${imports}\nexport const record: PlaceRecord = ${wrong};\n`)).toThrow(
      /type_lieu|Category/,
    );
  });
});

describe("the samples", () => {
  test.each(formatNames)("are what the server answers: %s", async (format) => {
    const ask = async (query: string): Promise<string> => {
      const answer = await fetch(`${server.address}/api.php?format=${format}&${query}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe(formats[format].mediaType);
      return answer.text();
    };
    expect(read(`contract/sample.${format}`)).toBe(await ask(`limit=${SAMPLE_SIZE}`));
    expect(read(`contract/empty.${format}`)).toBe(await ask("bbox=10,10,10,10"));
  });

  test("show the error that a wrong request gets", async () => {
    const answer = await fetch(`${server.address}/api.php?${WRONG_REQUEST}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toBe(read("contract/error.json"));
    expect(JSON.parse(read("contract/error.json")).errors).toHaveLength(3);
  });

  test("and everything else of the pack are in the manifest", () => {
    const { manifest } = readManifest(site);
    const listed = manifest.files.map(({ path }) => path).filter((path) => path.startsWith("contract/"));
    const there = readdirSync(join(site, "contract")).filter((name) => !/\.(gz|br)$/.test(name));
    expect(listed.sort()).toEqual(there.map((name) => `contract/${name}`).sort());
    expect(there).toHaveLength(4 + 2 * formatNames.length + 1);
  });
});

describe("the downloads table", () => {
  interface Download {
    readonly path: string;
    readonly format: string;
    readonly count: number;
    readonly bytes: number;
    readonly tooManyForPhones: boolean;
  }
  const table = () => JSON.parse(read("downloads.json"));

  test("names for each program files that are there, with their size and count", () => {
    const { programs, files, whole } = table();
    const { manifest } = readManifest(site);
    const byPath = new Map(manifest.files.map((file) => [file.path, file]));
    for (const { path, bytes, count } of files as Download[])
      expect(byPath.get(path)).toMatchObject({ bytes, places: count });
    expect(byPath.get(whole.path)).toMatchObject({ bytes: whole.bytes, places: 118 });
    expect(programs.map(({ name }: { name: string }) => name)).toEqual([
      ...["Garmin", "OsmAnd", "Organic Maps", "Locus Map", "Google Earth", "QGIS", "Excel, LibreOffice"],
    ]);
    for (const { formats: offered, how } of programs)
      for (const language of ["fr", "es", "ca", "en"]) {
        expect(how[language].length).toBeGreaterThan(20);
        const paths = (files as Download[])
          .filter(({ format }) => format === offered[language])
          .map(({ path }) => path);
        expect(paths).toContain(`exports/andorre/all.${offered[language]}`);
      }
  });

  test("offers no file without a place, and warns of none with few", () => {
    for (const { count, tooManyForPhones } of table().files as Download[]) {
      expect(count).toBeGreaterThan(0);
      expect(tooManyForPhones).toBe(false);
    }
  });

  test.each(["downloads.html", "downloads.fr.html", "downloads.es.html", "downloads.ca.html"])(
    "links only to what is there: %s",
    async (path) => {
      const html = read(path);
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);
      expect(links.length).toBeGreaterThan(100);
      for (const href of new Set(links)) {
        const answer = await fetch(new URL(href, `${server.address}/${path}`), { method: "HEAD" });
        expect(answer.status, href).toBe(200);
      }
      expect(html).not.toMatch(/(src|href)="https?:/);
      expect(read("index.html")).toContain('href="downloads.html"');
    },
  );
});
