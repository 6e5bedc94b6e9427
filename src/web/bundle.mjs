/** Bundles the map page into dist/app/web, from where every build copies it into its release. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzipSync } from "node:zlib";
import { build } from "rolldown";

const brotli = promisify(brotliCompress);
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const out = join(root, "dist", "app", "web");
const modules = join(root, "node_modules");

/** The registry of formats holds more than a browser can write: the page has its own. */
const ownFormats = {
  name: "own-formats",
  resolveId: (id) => (id.endsWith("/formats/index.js") ? join(here, "formats.ts") : null),
};

/** Programs that the page is made with and that go into the release; their terms go with them. */
const packages = ["maplibre-gl", "pmtiles", "fflate", "world-atlas"];

function licences() {
  const texts = packages.map((name) => {
    const file = ["LICENSE.txt", "LICENSE", "LICENSE.md"]
      .map((candidate) => join(modules, name, candidate))
      .find((candidate) => existsSync(candidate));
    const { version, license } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    const text = file === undefined ? "" : readFileSync(file, "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join("\n----\n\n");
}

/** Plain copy, without the line that names a source map which is not there. */
function copyScript(name) {
  const text = readFileSync(join(modules, "maplibre-gl", "dist", name), "utf8");
  writeFileSync(join(out, name), text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n"));
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const shared = { platform: "browser", plugins: [ownFormats], logLevel: "warn" };
// The page and its service worker are classic scripts: from a disk browsers load nothing else. The map comes as a module.
const classic = (name, from) =>
  build({
    ...shared,
    input: { [name]: join(here, from) },
    external: [/\/map\.js$/],
    output: { dir: out, format: "iife", minify: true },
  });
const map = build({
  ...shared,
  input: { map: join(here, "map.ts") },
  external: ["maplibre-gl"],
  output: {
    dir: out,
    format: "esm",
    minify: true,
    paths: { "maplibre-gl": "./maplibre-gl.mjs" },
    chunkFileNames: "[name].js",
  },
});
await Promise.all([classic("app", "main.ts"), classic("sw", "sw.ts"), map]);
for (const name of ["maplibre-gl.mjs", "maplibre-gl-worker.mjs"]) copyScript(name);
copyFileSync(join(modules, "maplibre-gl", "dist", "maplibre-gl.css"), join(out, "maplibre-gl.css"));
for (const name of ["style.css", "icon.svg"]) copyFileSync(join(here, name), join(out, name));
writeFileSync(join(out, "licenses.txt"), licences());

// Compressed once here rather than in every build, as well as it goes: every first visit over a hut's Wi-Fi is 35 kB lighter.
await Promise.all(
  readdirSync(out).map(async (name) => {
    const bytes = readFileSync(join(out, name));
    const gzip = gzipSync(bytes, { level: 9 });
    gzip[9] = 255; // the operating system (RFC 1952): "unknown", so that every system writes the same
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    };
    writeFileSync(join(out, `${name}.gz`), gzip);
    writeFileSync(join(out, `${name}.br`), await brotli(bytes, { params }));
  }),
);
