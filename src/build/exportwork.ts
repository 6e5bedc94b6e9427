/** The threads that write the exports, one pass over the places each, and what they wrote. */

import { availableParallelism } from "node:os";
import type { Format } from "../formats/format.js";
import { type FileFormatName, fileFormatNames, fileFormats, isWireFormat } from "../formats/index.js";
import { type ReaderThread, type ReadTask, startReader } from "../store/reader.js";
import type { ExportTask, WrittenFormats } from "./exports.js";

// A thread reads every place again and has memory of its own: with more of them that costs more than it wins.
const MOST_THREADS = 4;

/**
 * Starts writing the exports of a plan in every format. The same places give the same files, however many threads there are.
 * Progress is that of the slowest thread, in places.
 */
export function startExports(
  task: ReadTask<ExportTask>,
  onProgress: (places: number) => void,
  count = Math.min(availableParallelism(), MOST_THREADS),
): ReaderThread<WrittenFormats> {
  const shares = shareFormats(count);
  const progress = shares.map(() => 0);
  const threads = shares.map((formats, index) => {
    const plan = task.options.plan.filter(({ format }) => formats.includes(format));
    const options = { ...task.options, plan };
    return startReader<ExportTask, WrittenFormats>("build/exportthread.js", { ...task, options }, (done) => {
      progress[index] = done;
      onProgress(Math.min(...progress));
    });
  });
  const done = Promise.all(threads.map((thread) => thread.done)).then((written) =>
    inOrder(task.options, written),
  );
  done.catch(() => {}); // as in startReader
  return {
    done,
    stop: () => Promise.all(threads.map((thread) => thread.stop())),
  };
}

/** In the order of the plan, and of the formats: which thread wrote what must not show. */
function inOrder({ plan }: ExportTask, written: readonly WrittenFormats[]): WrittenFormats {
  const byPath = new Map(written.flatMap(({ exports }) => exports).map((one) => [one.path, one]));
  const wholes = written.flatMap((one) => one.wholes);
  return {
    exports: plan.flatMap(({ path }) => byPath.get(path) ?? []),
    wholes: fileFormatNames.flatMap((name) => wholes.filter(({ format }) => format === name)),
  };
}

/** The formats in about equal shares of work. */
function shareFormats(count: number): FileFormatName[][] {
  const shares = Array.from({ length: count }, () => ({ formats: [] as FileFormatName[], cost: 0 }));
  const byCost = [...fileFormatNames].sort((a, b) => costOf(b) - costOf(a));
  for (const format of byCost) {
    const least = shares.reduce((a, b) => (b.cost < a.cost ? b : a));
    least.formats.push(format);
    least.cost += costOf(format);
  }
  return shares.map(({ formats }) => formats).filter((formats) => formats.length > 0);
}

/** Time for a place, as a multiple of what a format takes that is neither packed nor cut in pieces. */
function costOf(name: FileFormatName): number {
  const { pack }: Format = fileFormats[name];
  if (pack !== undefined) return 4;
  return isWireFormat(name) ? 3 : 1;
}
