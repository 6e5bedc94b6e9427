/** A thread that writes the exports in some of the formats. */

import { readPlaces } from "../store/reader.js";
import { type ExportTask, type WrittenFormats, writeExports } from "./exports.js";

readPlaces<ExportTask, WrittenFormats>((store, task, onProgress) => {
  const result = writeExports(task, store.places(), onProgress);
  const moved = result.wholes.flatMap(({ offsets, pieces }) => [
    offsets.buffer,
    pieces.starts.buffer,
    pieces.checks.buffer,
  ]);
  return { result, moved };
});
