/** The thread that writes the map's files. */

import { readPlaces } from "../store/reader.js";
import { startPageIndex } from "./pageindex.js";
import { type TileTask, type WrittenTiles, writeTiles } from "./tilefiles.js";
import { type TilePlace, tilePlace } from "./tiles.js";

readPlaces<TileTask, WrittenTiles>((store, { folder, about, options }, onProgress) => {
  const index = startPageIndex(folder);
  const places: TilePlace[] = [];
  for (const place of store.places()) {
    index.add(place);
    if (options.maxZoom !== null) places.push(tilePlace(place));
  }
  const written = writeTiles(folder, places, about, options, onProgress);
  return { result: { ...written, plain: [...written.plain, index.finish()] } };
});
