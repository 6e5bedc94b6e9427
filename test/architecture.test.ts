import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT_BUG, errorCodes } from "../src/errors.js";
import { formatNames, formats } from "../src/formats/index.js";
import { propertyNames } from "../src/formats/properties.js";
import { parameters } from "../src/query.js";
import { categoryNumbers } from "../src/taxonomy.js";

/**
 * The levels of src, the lowest first. A file imports from its own level or a lower one, never from a higher one. A name
 * that ends in `/` is every file of a folder that is not named by itself.
 */
const LEVELS: readonly (readonly string[])[] = [
  ["errors", "text", "taxonomy", "measures", "record", "repairs", "program"],
  ["symbols", "place"],
  ["position"],
  ["bytes/"],
  ["parse"],
  ["formats/"],
  ["formats/index"],
  ["sources/"],
  ["sources/index"],
  ["query"],
  ["problem"],
  ["answer"],
  ["store/"],
  ["release/"],
  ["map/"],
  ["hosts/"],
  ["build/"],
  ["pull/"],
  ["publish/targets/"],
  ["publish/checks/"],
  ["publish/"],
  ["mirror/"],
  ["serve/"],
  ["commands/"],
  ["cli"],
];

// Packages are imported by one file each, so that replacing one is a change of one file. The exceptions, with the reason:
const SHARED_PACKAGES: Readonly<Record<string, RegExp>> = {
  commander: /^(cli|commands\/.*)\.ts$/, // each command declares its own options
  // the store and its parts, what a pull keeps until it ends, the release's database, the GeoPackage, and the lock on a release
  "p-retry": /^(sources\/client|mirror\/origin)\.ts$/,
  "better-sqlite3": /^(store\/.*|sources\/(pages|merge)|release\/(rankfile|swap)|build\/geopackage)\.ts$/,
};

const LONGEST_FILE = 250; // lines

interface Import {
  readonly from: string;
  readonly isType: boolean;
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"))
  .sort();
const text = new Map(files.map((file) => [file, readFileSync(`src/${file}`, "utf8")]));
const imports = new Map(files.map((file) => [file, importsOf(text.get(file) ?? "")]));

/** Everything that the text imports or re-exports, types included. */
function importsOf(source: string): Import[] {
  const statements = source.matchAll(/^(?:import|export)\s(?:([^"';]*?)\sfrom\s)?"([^"]+)"/gm);
  const dynamic = source.matchAll(/\bimport\(\s*"([^"]+)"/g);
  return [
    ...[...statements].map(([, names = "", from = ""]) => ({ from, isType: names.startsWith("type ") })),
    ...[...dynamic].map(([, from = ""]) => ({ from, isType: false })),
  ];
}

/** Files of src that a file of src imports. */
function neighbours(file: string): string[] {
  return (imports.get(file) ?? [])
    .filter(({ from }) => from.startsWith("."))
    .map(({ from }) => posix.join(posix.dirname(file), from).replace(/\.js$/, ".ts"));
}

function levelOf(file: string): number {
  const name = file.replace(/\.ts$/, "");
  const exact = LEVELS.findIndex((level) => level.includes(name));
  if (exact >= 0) return exact;
  return LEVELS.findIndex((level) => level.includes(`${posix.dirname(file)}/`));
}

describe("imports", () => {
  // The page runs in a browser: a runtime of its own, below no level.
  const program = files.filter((file) => !file.startsWith("web/"));

  test("the reader of imports sees every kind of them", () => {
    const source = `import a from "a";\nimport type { B } from "./b.js";\nimport {\n  c,\n  type D,\n} from "c/d.js";\nexport { e } from "./e.js";\nimport "f";\nconst g = await import("g");`;
    expect(importsOf(source).map(({ from }) => from)).toEqual(["a", "./b.js", "c/d.js", "./e.js", "f", "g"]);
    expect(files.length).toBeGreaterThan(30);
    expect(neighbours("formats/index.ts")).toContain("formats/geojson.ts");
  });

  test.each(program)("of %s go down", (file) => {
    expect(levelOf(file), `${file} has no level: give it one in this test`).toBeGreaterThanOrEqual(0);
    for (const other of neighbours(file)) {
      expect(text.has(other), `${file} imports ${other}, which is not there`).toBe(true);
      expect(levelOf(other), `${file} imports ${other}, which stands above it`).toBeLessThanOrEqual(
        levelOf(file),
      );
    }
  });

  test("have no cycle, types included", () => {
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) throw new Error(`cycle: ${[...path, file].join(" > ")}`);
      if (done.has(file)) return;
      for (const other of neighbours(file)) visit(other, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(done.size).toBe(files.length);
  });

  test("of the page reach nothing at run time that a browser does not have", () => {
    // The bundle has a registry of formats of its own in the place of formats/index.ts.
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file) || file === "formats/index.ts") return;
      reached.add(file);
      for (const { from, isType } of imports.get(file) ?? []) {
        if (isType) continue;
        expect(from, `${file}, which the page reaches`).not.toMatch(/^(node:|#)/);
        if (from.startsWith(".")) visit(posix.join(posix.dirname(file), from).replace(/\.js$/, ".ts"));
      }
    };
    for (const file of files.filter((file) => file.startsWith("web/"))) visit(file);
    expect(reached).toContain("formats/gpx.ts");
  });

  test("name each package in one file, and only packages that are dependencies", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const importers = new Map<string, Set<string>>();
    for (const file of program) {
      for (const { from, isType } of imports.get(file) ?? []) {
        if (/^(\.|#|node:)/.test(from)) continue;
        const name = from.split("/", from.startsWith("@") ? 2 : 1).join("/");
        if (isType && `@types/${name}` in devDependencies) continue; // types alone: nothing is loaded
        expect(Object.keys(dependencies), `${file} imports ${name}`).toContain(name);
        importers.set(name, (importers.get(name) ?? new Set()).add(file));
      }
    }
    expect(importers.size).toBeGreaterThan(5);
    for (const [name, by] of importers) {
      const shared = SHARED_PACKAGES[name];
      if (shared === undefined) expect([...by], `importers of ${name}`).toHaveLength(1);
      else for (const file of by) expect(file, `importer of ${name}`).toMatch(shared);
    }
  });
});

describe("files", () => {
  test.each(files)("%s is short, and begins with what it guarantees", (file) => {
    const lines = (text.get(file) ?? "").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(LONGEST_FILE);
    expect(lines[lines[0]?.startsWith("#!") ? 1 : 0]).toMatch(/^\/\*\*/);
  });
});

describe("the README", () => {
  const readme = readFileSync("README.md", "utf8");
  const helps = new Map<string, string>();
  const help = (command = ""): string => {
    const args = ["dist/app/cli.js", ...(command === "" ? [] : [command]), "--help"];
    const text = helps.get(command) ?? execFileSync(process.execPath, args, { encoding: "utf8" });
    helps.set(command, text);
    return text;
  };
  const commands = [...help().matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, name = ""]) => name);

  test("mentions every command", () => {
    expect(commands).toEqual(expect.arrayContaining(["pull", "build", "serve", "verify", "start"]));
    for (const command of commands) expect(readme).toContain(`shelters ${command}\``);
  });

  test("mentions every option", () => {
    const texts = [help(), ...commands.map((command) => help(command))];
    const options = new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/^ {2}(?:-\w, )? *(--[a-z-]+)/gm)].map(([, option = ""]) => option),
      ),
    );
    options.delete("--version");
    expect(options).toContain("--database");
    expect(options).toContain("--quiet");
    for (const option of options) expect(readme).toContain(`\`${option}`);
  });

  test("mentions every parameter, format, category and key of a record", () => {
    for (const { names } of Object.values(parameters))
      for (const name of names) expect(readme).toContain(`\`${name}\``);
    for (const name of formatNames) expect(readme).toContain(`\`${name}\``);
    for (const key of propertyNames) expect(readme).toContain(`\`${key}\``);
    for (const category of categoryNumbers) expect(readme).toMatch(new RegExp(`\\| ${category} \\|`));
    expect(Object.keys(formats)).toEqual(formatNames);
  });

  test("explains every exit code in the words of the program", () => {
    const codes = [
      { exit: 0, meaning: "done" },
      { exit: EXIT_BUG, meaning: "a bug of the program" },
    ];
    for (const { exit, meaning } of [...codes, ...Object.values(errorCodes)]) {
      expect(readme).toContain(`| ${exit} | ${meaning} |`);
      expect(help().replace(/\s+/g, " ")).toContain(`${exit} ${meaning}`);
    }
  });

  test("begins with the two commands", () => {
    const top = readme.slice(0, 1000);
    expect(top).toContain("npm ci && npm start");
    expect(top).toContain("npm ci && npm test");
  });
});

describe("the package", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));

  test("keeps to Node 20.19, and to the packages' major versions that still run on it", () => {
    expect(manifest.engines).toEqual({ node: ">=20.19" });
    const held = { "better-sqlite3": 12, commander: 14, vitest: 4 };
    for (const [name, major] of Object.entries(held)) {
      const { version } = lock.packages[`node_modules/${name}`];
      expect(Number(version.split(".")[0]), name).toBe(major);
    }
  });

  test("offers every script that the README and the issues name", () => {
    expect(Object.keys(manifest.scripts)).toEqual(
      expect.arrayContaining(["compile", "start", "test", "check", "bench", "bless"]),
    );
    expect(manifest.bin).toEqual({ shelters: "dist/app/cli.js" });
  });

  test("can be installed from any registry: the lock file names none", () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(20);
    for (const [name, entry] of Object.entries<{ resolved?: string }>(lock.packages))
      expect(entry.resolved, name).toBeUndefined();
  });
});
