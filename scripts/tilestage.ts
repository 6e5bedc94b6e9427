/** `tilestage.js DATABASE FOLDER MAXZOOM`: the tile stage of a build and nothing else, to be measured as a process. */

import { mkdirSync } from "node:fs";
import { describe } from "../src/build/facts.js";
import { writeTiles } from "../src/map/tilefiles.js";
import { tilePlace } from "../src/map/tiles.js";
import { openStore } from "../src/store/store.js";

const [database = "", folder = "", maxZoom = ""] = process.argv.slice(2);
const store = openStore(database);
try {
  mkdirSync(folder, { recursive: true });
  const options = { maxZoom: Number(maxZoom), baseUrl: null };
  writeTiles(
    folder,
    Array.from(store.places(), (place) => tilePlace(place)),
    describe(store),
    options,
  );
} finally {
  store.close();
}
