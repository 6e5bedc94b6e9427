/** What the R*Tree should hold: single places, or blocks of so many consecutive ranks. Measured in this process, ranges only. */

import Database from "better-sqlite3";
import { boxesWith } from "./boxes.js";
import { buildSize } from "./sizes.js";
import { shown, table } from "./table.js";

const BLOCKS = [1, 16, 32, 64, 128, 256]; // 1 = an R*Tree over places
const UNITS = 1e7; // to a degree
const MS = 500; // for each cell of the table

type Search = (box: readonly number[]) => number;

/** Searches per second by block size and by how many places a box holds. */
export async function compareBlockSizes(
  work: string,
  sizes: readonly number[],
  say: (text: string) => void,
): Promise<void> {
  for (const count of sizes) {
    const { database, source } = await buildSize(work, count, ["brotli", "tiles"]);
    const wanted = [100, 1000, 10_000].filter((one) => one * 5 <= count);
    const places = new Database(database, { readonly: true });
    const read = (column: string): Int32Array =>
      Int32Array.from(
        places.prepare<[], number>(`SELECT ${column} FROM place ORDER BY rank`).pluck().all(),
        (degrees) => Math.round(degrees * UNITS),
      );
    const [lon, lat] = [read("lon"), read("lat")];
    const rows = BLOCKS.map((block) => {
      const search = index(lon, lat, block);
      const cells = wanted.map((one) => shown(measure(search, boxesWith(one, count))));
      return [block === 1 ? "places" : `blocks of ${block}`, ...cells];
    });
    places.close();
    say(`Ranges found per second, ${shown(count)} places (${source})\n`);
    say(`${table(["R*Tree over", ...wanted.map((one) => `about ${shown(one)} inside`)], rows)}\n`);
  }
}

function measure(search: Search, boxes: readonly string[]): number {
  const edges = boxes.map((box) => box.split(",").map((degrees) => Math.round(Number(degrees) * UNITS)));
  const started = performance.now();
  let searches = 0;
  while (performance.now() - started < MS) {
    for (const box of edges) search(box);
    searches += edges.length;
  }
  return (searches / (performance.now() - started)) * 1000;
}

/** Counts the runs of ranks inside a box, as the server finds them. */
function index(lon: Int32Array, lat: Int32Array, block: number): Search {
  const tree = new Database(":memory:");
  tree.exec("CREATE VIRTUAL TABLE block USING rtree_i32(id, west, east, south, north); BEGIN");
  const insert = tree.prepare("INSERT INTO block VALUES (?, ?, ?, ?, ?)");
  const boxes: { west: number; east: number; south: number; north: number }[] = [];
  for (let first = 0; first < lon.length; first += block) {
    const [xs, ys] = [lon.subarray(first, first + block), lat.subarray(first, first + block)];
    const box = {
      west: Math.min(...xs),
      east: Math.max(...xs),
      south: Math.min(...ys),
      north: Math.max(...ys),
    };
    insert.run(boxes.length, box.west, box.east, box.south, box.north);
    boxes.push(box);
  }
  tree.exec("COMMIT");
  const meeting = tree
    .prepare<number[], number>(
      "SELECT id FROM block WHERE east >= ? AND west <= ? AND north >= ? AND south <= ?",
    )
    .pluck();
  return ([west = 0, south = 0, east = 0, north = 0]) => {
    let runs = 0;
    let last = -1;
    const take = (from: number, to: number): void => {
      if (from !== last) runs++;
      last = to;
    };
    for (const id of Uint32Array.from(meeting.all(west, east, south, north)).sort()) {
      const box = boxes[id] as (typeof boxes)[0];
      const [from, to] = [id * block, Math.min((id + 1) * block, lon.length)];
      if (box.west >= west && box.east <= east && box.south >= south && box.north <= north) take(from, to);
      else
        for (let rank = from; rank < to; rank++) {
          const [x, y] = [lon[rank] as number, lat[rank] as number];
          if (x >= west && x <= east && y >= south && y <= north) take(rank, rank + 1);
        }
    }
    return runs;
  };
}
