/**
 * `npm run bench`: made-up places pulled, built and served, beside plain sirv and a row-by-row server, in one table.
 *
 *   npm run bench                      5,000 and 100,000 places
 *   npm run bench -- --places 5000     one size
 *   npm run bench -- --quick           one short round, to see that it works
 *   npm run bench -- --peers           nginx, MapServer and PHP too, where they are installed
 *   npm run bench -- --growth          5,000 to 1,000,000 places: how cost grows, as a table and a plot
 *   npm run bench -- --tiles           tiles alone, beside GDAL's MVT driver where it is installed
 *   npm run bench -- --mirror          bytes on the wire when a copy is renewed, beside rsync -z
 *   npm run bench -- --blocks          block sizes of the R*Tree, in this process
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareBlockSizes } from "./blocksizes.js";
import { formatTable } from "./formatcost.js";
import { measureGrowth } from "./growth.js";
import { tool } from "./load.js";
import { describeMachine, pinning } from "./machine.js";
import { measureMirrorDays } from "./mirrordays.js";
import { benchPeers } from "./peers.js";
import { buildSize, stageTable } from "./sizes.js";
import { measureTiles } from "./tilecost.js";
import { benchServing } from "./workloads.js";

const { values } = parseArgs({
  options: {
    places: { type: "string" },
    quick: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
    growth: { type: "boolean", default: false },
    blocks: { type: "boolean", default: false },
    tiles: { type: "boolean", default: false },
    mirror: { type: "boolean", default: false },
    work: { type: "string", default: "dist/bench" },
    keep: { type: "boolean", default: false },
  },
});

const sizes = (values.places ?? (values.growth ? "5000,50000,250000,1000000" : "5000,100000"))
  .split(",")
  .map(Number);
const pace = { rounds: values.quick ? 1 : values.peers ? 5 : 3, seconds: 1 };
const work = values.work;
mkdirSync(work, { recursive: true });
const say = (text: string): void => void process.stdout.write(`${text}\n`);
try {
  say(`${new Date().toISOString().slice(0, 10)}, ${describeMachine()}; ${pinning}; load by ${tool}.\n`);
  if (values.growth) await measureGrowth(work, sizes, say);
  else if (values.tiles) await measureTiles(work, sizes, pace.rounds, say);
  else if (values.blocks) await compareBlockSizes(work, sizes, say);
  else if (values.mirror) await measureMirrorDays(say);
  else if (values.peers) await benchPeers(work, sizes, pace, say);
  else {
    const built = [];
    for (const count of sizes) built.push(await buildSize(work, count));
    say(`${stageTable(built)}\n`);
    for (const one of built) say(`${formatTable(one)}\n`);
    for (const one of built) say(`${await benchServing(one, pace)}\n`);
  }
} finally {
  if (!values.keep) rmSync(join(work), { recursive: true, force: true });
}
