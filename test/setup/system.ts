/** System programs that read our files as our users' programs do. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The Debian package that brings each program; CI installs them all. */
const packages = {
  ogr2ogr: "gdal-bin",
  ogrinfo: "gdal-bin",
  gdalinfo: "gdal-bin",
  gdal_translate: "gdal-bin",
  gpsbabel: "gpsbabel",
  soffice: "libreoffice-calc-nogui",
  jq: "jq",
  unzip: "unzip",
  "rsvg-convert": "librsvg2-bin",
} as const;

/** Whether a program is installed: a test that needs it is skipped where not. In CI it must be there: this throws then. */
export function hasProgram(name: keyof typeof packages): boolean {
  const found = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
  return found || missing(`${name} (apt-get install ${packages[name]})`);
}

const SYSTEM_PYTHON = "/usr/bin/python3"; // the one that Debian's modules are installed for

/** Whether Python can import a module that Debian brings. */
export function hasPythonModule(name: string): boolean {
  try {
    python(`import ${name}`);
    return true;
  } catch {
    return missing(`the Python module ${name} (apt-get install python3-${name})`);
  }
}

function missing(what: string): boolean {
  if (process.env["CI"]) throw new Error(`${what} is missing: in CI it must be there.`);
  process.stderr.write(`${what} is missing: tests that need it are skipped.\n`);
  return false;
}

/** What a program prints; throws with its complaints when it fails. */
export function run(name: keyof typeof packages, args: readonly string[]): string {
  return execFileSync(name, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** What a Python program prints; `args` follow in `sys.argv`. */
export function python(program: string, ...args: readonly string[]): string {
  return execFileSync(SYSTEM_PYTHON, ["-c", program, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONIOENCODING: "utf-8" },
  });
}
