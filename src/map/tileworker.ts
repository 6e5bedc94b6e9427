/** The thread that writes the map's files while the main thread writes the exports; it reads the same database. */

import { parentPort, workerData } from "node:worker_threads";
import { openStore } from "../store/store.js";
import { startPageIndex } from "./pageindex.js";
import { writeTiles } from "./tilefiles.js";
import { type TilePlace, tilePlace } from "./tiles.js";
import type { TileMessage, TileTask } from "./tilework.js";

const task = workerData as TileTask;
const post = (message: TileMessage): void => parentPort?.postMessage(message);

const store = openStore(task.database);
try {
  const index = startPageIndex(task.folder);
  const places: TilePlace[] = [];
  for (const place of store.places()) {
    index.add(place);
    if (task.options.maxZoom !== null) places.push(tilePlace(place));
  }
  // A pull may have ended since the build began: the map must not show other places than the exports hold.
  if (store.contentHash() !== task.contentHash) post({ kind: "changed" });
  else {
    const written = writeTiles(task.folder, places, task.about, task.options, (tiles) =>
      post({ kind: "progress", tiles }),
    );
    post({ kind: "done", written: { ...written, plain: [...written.plain, index.finish()] } });
  }
} finally {
  store.close();
}
