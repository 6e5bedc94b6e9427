/**
 * Bytes on the wire of a typical day: 20 of 1,600 places change, and a copy is renewed. Beside it, what a plain download of
 * the gzip files would cost, and `rsync -z` where it is installed.
 *
 *   npm run --silent compile && tsc -p scripts && node dist/scripts/scripts/mirrordays.js [days] [places] [max-zoom]
 */

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../src/build/build.js";
import { mirror } from "../src/mirror/mirror.js";
import { pull } from "../src/pull/pull.js";
import { readManifest, verifyRelease } from "../src/release/manifest.js";
import { startServer } from "../src/serve/server.js";
import { startProxy } from "../test/setup/badline.js";
import { describeMachine, isInstalled } from "./machine.js";
import { randomNumbers, writeSynthetic } from "./synthetic.js";

const [days = 2, places = 1600, maxZoom = 12] = process.argv.slice(2).map(Number);
const CHANGED = Math.max(1, Math.round(places / 80));

const folder = mkdtempSync(join(tmpdir(), "shelters-days-"));
const at = (name: string): string => join(folder, name);
const about = { title: "Made-up shelters", attribution: "Nobody", license: "None" };

async function release(day: number): Promise<void> {
  const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
  const from = at("places.csv");
  await pull({
    from,
    database: at("places.sqlite"),
    force: true,
    about: { ...about, date },
    onProgress: () => {},
  });
  await build({ database: at("places.sqlite"), site: at("site"), map: { maxZoom }, onProgress: () => {} });
}

/** Another comment for some of the places. */
function change(day: number): void {
  const random = randomNumbers(day);
  const lines = readFileSync(at("places.csv"), "utf8").split("\n");
  for (let n = 0; n < CHANGED; n++) {
    const at = 1 + Math.floor(random() * places);
    lines[at] = (lines[at] ?? "").replace(/Refuge|Cabane|Abri|Cabana|Refugio/, `$& ${day}`);
  }
  writeFileSync(at("places.csv"), lines.join("\n"));
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, bytes) => total + bytes, 0);
const kilo = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

async function renew(copy: string, rebuild: "always" | "never"): Promise<number> {
  proxy.reset();
  await mirror({ source: proxy.address, site: at(copy), rebuild, onLine: () => {}, onProgress: () => {} });
  const same = readFileSync(join(at(copy), "manifest.json")).equals(readFileSync(at("site/manifest.json")));
  if (!same || (await verifyRelease(at(copy))).faults.length > 0) throw new Error(`${copy} differs`);
  return proxy.bytes();
}

/** Bytes that rsync says it sent and received. */
function rsync(copy: string): number {
  const text = execFileSync("rsync", [
    "-az",
    "--delete",
    "--stats",
    "--no-whole-file",
    `${at("site")}/`,
    `${at(copy)}/`,
  ]);
  const bytes = [...text.toString().matchAll(/Total bytes (?:sent|received): ([\d,]+)/g)];
  return sum(bytes.map(([, count = ""]) => Number(count.replaceAll(",", ""))));
}

await writeSynthetic(at("places.csv"), { count: places });
await release(0);
const server = await startServer({ site: at("site"), host: "127.0.0.1", port: 0, log: () => {} });
const proxy = await startProxy(server.address);
console.log(`${describeMachine()}\n${places} places, ${CHANGED} changed a day, tiles to zoom ${maxZoom}`);
const first = { changes: await renew("by-changes", "always"), files: await renew("by-files", "never") };
cpSync(at("site"), at("by-rsync"), { recursive: true });
console.log(`first copy: ${kilo(first.changes)} rebuilt here, ${kilo(first.files)} file by file`);
for (let day = 1; day <= days; day++) {
  change(day);
  await release(day);
  await new Promise((resolve) => setTimeout(resolve, 3000)); // the server looks once a second
  const gzip = sum(
    readManifest(at("site")).manifest.files.map((file) => file.codings.gzip?.bytes ?? file.bytes),
  );
  const report = [
    `day ${day}: ${kilo(await renew("by-changes", "always"))} by changes`,
    `${kilo(await renew("by-files", "never"))} by files`,
    `${kilo(await renew("by-files", "never"))} when nothing changed`,
    ...(isInstalled("rsync") ? [`${kilo(rsync("by-rsync"))} rsync -z`] : []),
    `${kilo(gzip)} all gzip files`,
  ];
  console.log(report.join(", "));
}
await proxy.close();
await server.close();
rmSync(folder, { recursive: true });
