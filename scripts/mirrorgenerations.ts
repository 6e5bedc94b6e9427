/**
 * Generation after generation of made-up changes, each mirrored from the steps of `changes/` and compared byte by byte with
 * a fresh copy; a second copy comes by only now and then and takes several generations in one step.
 *
 *   npm run --silent compile && tsc -p scripts && node dist/scripts/scripts/mirrorgenerations.js [generations] [places] [seed]
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "../src/build/build.js";
import { mirror } from "../src/mirror/mirror.js";
import { pull } from "../src/pull/pull.js";
import { readManifest } from "../src/release/manifest.js";
import { startServer } from "../src/serve/server.js";
import { startProxy } from "../test/setup/badline.js";
import { evolve } from "../test/setup/evolving.js";
import { type MadePlace, madePlaces } from "../test/setup/madeplaces.js";
import { median, size } from "./table.js";

const [generations = 200, places = 300, seed = 1] = process.argv.slice(2).map(Number);
const RARELY = 7; // generations that the second copy takes in one step

const folder = mkdtempSync(join(tmpdir(), "shelters-generations-"));
const at = (name: string): string => join(folder, name);

async function release(records: readonly MadePlace[], day: number): Promise<void> {
  const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
  // Now and then the data say something else of themselves, too.
  const attribution = `Nobody & sons, ${Math.floor(day / 20)}`;
  const about = { title: "Made-up shelters", attribution, license: "https://example.org/terms", date };
  writeFileSync(at("places.json"), JSON.stringify(records));
  await pull({
    from: at("places.json"),
    database: at("places.sqlite"),
    force: true,
    about,
    onProgress: () => {},
  });
  // Brotli takes most of the time and nothing else: every second twentieth has it.
  const brotli = Math.floor(day / 20) % 5 === 0;
  const [database, site] = [at("places.sqlite"), at("site")];
  await build({ database, site, brotli, map: { maxZoom: 3 }, onProgress: () => {} });
}

interface Renewal {
  readonly bytes: number;
  readonly byChanges: boolean;
}

/** Renews a copy over HTTP and compares it with a fresh one of the folder; throws where a byte differs. */
async function renew(copy: string, day: number): Promise<Renewal> {
  const lines: string[] = [];
  const onLine = (line: string): void => void lines.push(line);
  proxy.reset();
  await mirror({ source: proxy.address, site: at(copy), rebuild: "always", onLine, onProgress: () => {} });
  const [own, fresh] = [filesBelow(at(copy)), filesBelow(at("fresh"))];
  const different = [...new Set([...own.keys(), ...fresh.keys()])].filter(
    (path) => fresh.get(path)?.equals(own.get(path) ?? Buffer.alloc(0)) !== true,
  );
  if (different.length > 0) throw new Error(`generation ${day}: ${copy} differs in ${different.join(", ")}`);
  return { bytes: proxy.bytes(), byChanges: lines.some((line) => line.includes("of changes")) };
}

function filesBelow(site: string): Map<string, Buffer> {
  const files = readdirSync(site, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(site, path), readFileSync(path)]));
}

async function untilServed(): Promise<void> {
  const { bytes } = readManifest(at("site"));
  for (;;) {
    const served = Buffer.from(await (await fetch(`${server.address}/manifest.json`)).arrayBuffer());
    if (served.equals(bytes)) return;
    await pause(100);
  }
}

let records: MadePlace[] = madePlaces(places, seed).map((place) => ({ ...place, region: "Navarre" }));
await release(records, 0);
const server = await startServer({ site: at("site"), host: "127.0.0.1", port: 0, log: () => {} });
const proxy = await startProxy(server.address);
const each: Renewal[] = [];
const rare: Renewal[] = [];
for (let day = 0; day <= generations; day++) {
  if (day > 0) {
    records = evolve(records, 1 + (day % 12), seed * 1000 + day);
    await release(records, day);
  }
  await untilServed();
  rmSync(at("fresh"), { recursive: true, force: true });
  await mirror({ source: at("site"), site: at("fresh"), onLine: () => {}, onProgress: () => {} });
  each.push(await renew("each", day));
  if (day % RARELY === 0 || day === generations) rare.push(await renew("rare", day));
  if (day % 10 === 0) process.stderr.write(`${day} of ${generations}\n`);
}
for (const [name, [, ...renewals]] of Object.entries({
  "one generation": each,
  [`${RARELY} generations`]: rare,
})) {
  const byChanges = renewals.filter((renewal) => renewal.byChanges).length;
  const middle = size(median(renewals.map(({ bytes }) => bytes)));
  const most = size(Math.max(...renewals.map(({ bytes }) => bytes)));
  console.log(
    `${name} a step: ${renewals.length} renewals, ${byChanges} from changes, all byte by byte as a fresh copy; ${middle} on the wire (median), ${most} at most`,
  );
}
console.log(`${records.length} places at the end, ${readManifest(at("site")).manifest.files.length} files`);
await proxy.close();
await server.close();
rmSync(folder, { recursive: true });
