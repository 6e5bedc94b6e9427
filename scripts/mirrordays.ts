/**
 * Bytes on the wire of a typical day: 20 of 1,600 places change, and a copy is renewed. Beside it rsync -z, and a plain
 * download of every gzip file. Every byte is counted by a proxy between client and server, in both directions.
 */

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "../src/build/build.js";
import { mirror } from "../src/mirror/mirror.js";
import { pull } from "../src/pull/pull.js";
import { readManifest, verifyRelease } from "../src/release/manifest.js";
import { startServer } from "../src/serve/server.js";
import { type BadLine, startProxy } from "../test/setup/badline.js";
import { isInstalled } from "./machine.js";
import { randomNumbers, writeSynthetic } from "./synthetic.js";
import { median, size, table } from "./table.js";

const PLACES = 1600;
const CHANGED = 20; // a day
const DAYS = 3;

/** Measures and prints one table. */
export async function measureMirrorDays(say: (text: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "shelters-days-"));
  const at = (name: string): string => join(folder, name);
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  try {
    await writeSynthetic(at("places.csv"), { count: PLACES });
    await release(folder, 0);
    const server = await startServer({ site: at("site"), host: "127.0.0.1", port: 0, log: () => {} });
    closing.unshift(server.close);
    const line = await startProxy(server.address);
    closing.unshift(line.close);
    const rsync = isInstalled("rsync") ? await startRsync(folder, closing) : null;
    const first = {
      changes: await renew(folder, "by-changes", line, "always"),
      files: await renew(folder, "by-files", line, "never"),
    };
    cpSync(at("site"), at("by-rsync"), { recursive: true });
    const days: Record<"changes" | "files" | "unchanged" | "rsync" | "gzip", number>[] = [];
    for (let day = 1; day <= DAYS; day++) {
      change(at("places.csv"), day);
      await release(folder, day);
      await untilServed(server.address, at("site"));
      days.push({
        changes: await renew(folder, "by-changes", line, "always"),
        files: await renew(folder, "by-files", line, "never"),
        unchanged: await renew(folder, "by-files", line, "never"),
        rsync: rsync === null ? Number.NaN : await renewByRsync(folder, rsync),
        gzip: sum(
          readManifest(at("site")).manifest.files.map((file) => file.codings.gzip?.bytes ?? file.bytes),
        ),
      });
    }
    const middle = (key: keyof (typeof days)[number]): string => size(median(days.map((day) => day[key])));
    const { files } = readManifest(at("site")).manifest;
    const manifest = size(readFileSync(at("site/manifest.json.br")).length);
    say(
      `${PLACES} places, ${CHANGED} of them changed a day; ${files.length} files and their compressed forms, of which the manifest is ${manifest} packed.\n`,
    );
    say(
      table(
        ["a copy is renewed", "on the wire"],
        [
          ["nothing changed", middle("unchanged")],
          ["`mirror`, from `changes/`", middle("changes")],
          ["`mirror --rebuild never`, whole files", middle("files")],
          ["`rsync -rz --checksum`", rsync === null ? "not installed" : middle("rsync")],
          ["every gzip file again, without headers", middle("gzip")],
          ["first copy, from the whole export", size(first.changes)],
          ["first copy, `--rebuild never`", size(first.files)],
        ],
      ),
    );
  } finally {
    for (const close of closing) await close();
  }
}

async function release(folder: string, day: number): Promise<void> {
  const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
  const about = { title: "Made-up shelters", attribution: "Nobody", license: "None", date };
  const database = join(folder, "places.sqlite");
  await pull({ from: join(folder, "places.csv"), database, force: true, about, onProgress: () => {} });
  await build({ database, site: join(folder, "site"), onProgress: () => {} });
}

/** Another name for some of the places. */
function change(path: string, day: number): void {
  const random = randomNumbers(day);
  const lines = readFileSync(path, "utf8").split("\n");
  const chosen = new Set<number>();
  while (chosen.size < CHANGED) chosen.add(1 + Math.floor(random() * PLACES));
  for (const at of chosen)
    lines[at] = (lines[at] ?? "").replace(/^(\d+),(.*?)(,-?\d+\.\d+,)/, `$1,$2 ${day}$3`);
  writeFileSync(path, lines.join("\n"));
}

/** Bytes of a renewal; throws when the copy is not the release, byte by byte. */
async function renew(
  folder: string,
  name: string,
  line: BadLine,
  rebuild: "always" | "never",
): Promise<number> {
  const copy = join(folder, name);
  line.reset();
  await mirror({ source: line.address, site: copy, rebuild, onLine: () => {}, onProgress: () => {} });
  const bytes = line.bytes();
  const [own, theirs] = [copy, join(folder, "site")].map((site) => readManifest(site).bytes);
  if (own === undefined || theirs?.equals(own) !== true) throw new Error(`${name} is of another generation`);
  if ((await verifyRelease(copy)).faults.length > 0) throw new Error(`${name} differs`);
  return bytes;
}

/** An rsync daemon that shows the release, behind a line that counts. */
async function startRsync(folder: string, closing: (() => unknown)[]): Promise<BadLine> {
  const port = await freePort();
  const config = join(folder, "rsyncd.conf");
  writeFileSync(
    config,
    `use chroot = no\nport = ${port}\naddress = 127.0.0.1\n[site]\npath = ${join(folder, "site")}\n`,
  );
  const daemon = spawn("rsync", ["--daemon", "--no-detach", `--config=${config}`], { stdio: "ignore" });
  closing.unshift(() => daemon.kill("SIGTERM"));
  const line = await startProxy(`http://127.0.0.1:${port}`);
  closing.unshift(line.close);
  await pause(1000); // until it listens
  return line;
}

/** In a process of its own, and this one counting meanwhile. */
function renewByRsync(folder: string, line: BadLine): Promise<number> {
  line.reset();
  mkdirSync(join(folder, "by-rsync"), { recursive: true });
  const { host } = new URL(line.address);
  const args = ["-rz", "--checksum", "--delete", `rsync://${host}/site/`, `${join(folder, "by-rsync")}/`];
  const run = spawn("rsync", args, { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    run.on("close", (code) => {
      if (code !== 0) return reject(new Error(`rsync ended with ${code}`));
      execFileSync("diff", ["-rq", join(folder, "site"), join(folder, "by-rsync")]);
      resolve(line.bytes());
    });
  });
}

async function untilServed(address: string, site: string): Promise<void> {
  const { bytes } = readManifest(site);
  for (;;) {
    const served = Buffer.from(await (await fetch(`${address}/manifest.json`)).arrayBuffer());
    if (served.equals(bytes)) return;
    await pause(200);
  }
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(address === null || typeof address === "string" ? 0 : address.port));
    });
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
