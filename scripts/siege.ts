/**
 * A server under siege: a crowd, slow sockets, swaps under load, any text at all, aborted downloads, clients that do not
 * read. Everything on the loopback address and bounded in time, about ten minutes in all; one table at the end. By hand:
 * the tests hold shorter ones.
 *
 *   npm run --silent compile && tsc -p scripts && node dist/scripts/scripts/siege.js [trial ...]
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMachine, pinning } from "./machine.js";
import { abortDownloads } from "./siege/aborted.js";
import { crowd } from "./siege/crowd.js";
import { anyText } from "./siege/fuzz.js";
import { makeReleases } from "./siege/releases.js";
import { slowSockets } from "./siege/slow.js";
import { swapReleases } from "./siege/swaps.js";
import type { Outcome, Releases } from "./siege/trial.js";
import { readNothing } from "./siege/unread.js";
import { table } from "./table.js";

const trials: Readonly<Record<string, (releases: Releases) => Promise<Outcome>>> = {
  crowd,
  "slow-headers": (releases) => slowSockets(releases, "headers"),
  "slow-body": (releases) => slowSockets(releases, "body"),
  "slow-read": (releases) => slowSockets(releases, "read"),
  swaps: (releases) => swapReleases(releases, 1),
  "swaps-workers": (releases) => swapReleases(releases, 2),
  text: anyText,
  aborted: abortDownloads,
  unread: readNothing,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(trials);
const unknown = names.filter((name) => !Object.hasOwn(trials, name));
if (unknown.length > 0) {
  process.stderr.write(`no such trial: ${unknown.join(", ")}; there are ${Object.keys(trials).join(", ")}\n`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "shelters-siege-"));
try {
  const releases = await makeReleases(folder);
  // What no answer may ever hold: it lies beside the release.
  writeFileSync(join(folder, "outside.txt"), "never to be served");
  const rows: string[][] = [];
  for (const name of names) {
    const trial = trials[name];
    if (trial === undefined) continue;
    const { asked, seen, faults } = await trial(releases);
    rows.push([name, asked, seen, faults.length === 0 ? "yes" : `NO: ${faults.join("; ")}`]);
    process.stderr.write(`${rows.at(-1)?.join(" | ")}\n`);
  }
  process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${describeMachine()}; ${pinning}.\n\n`);
  process.stdout.write(`${table(["trial", "asked", "seen", "held"], rows)}\n`);
  if (rows.some(([, , , held]) => held !== "yes")) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
