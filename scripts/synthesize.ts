/** `node dist/scripts/scripts/synthesize.js COUNT FILE.csv|FILE.ndjson [SEED]`: writes made-up places. */

import { writeSynthetic } from "./synthetic.js";

const [count = "", path = "", seed] = process.argv.slice(2);
if (!/^\d+$/.test(count) || path === "" || (seed !== undefined && !/^\d+$/.test(seed))) {
  process.stderr.write("usage: synthesize.js COUNT FILE.csv|FILE.ndjson [SEED]\n");
  process.exit(2);
}
const options = { count: Number(count), ...(seed !== undefined && { seed: Number(seed) }) };
await writeSynthetic(path, options, path.endsWith(".ndjson") ? "ndjson" : "csv");
