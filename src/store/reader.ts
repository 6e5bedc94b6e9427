/** Threads that read the places of a database beside the main thread, each on a connection of its own. */

import { join } from "node:path";
import { parentPort, type Transferable, Worker, workerData } from "node:worker_threads";
import { UserError } from "../errors.js";
import { appFolder } from "../program.js";
import { openStore, type Store } from "./store.js";

/** What every such thread is told; `options` are its own. */
export interface ReadTask<Options> {
  readonly database: string;
  /** Of the places that all threads of a build are to read. */
  readonly contentHash: string;
  readonly options: Options;
}

type Message<Result> =
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "changed" }
  | { readonly kind: "done"; readonly result: Result };

export interface ReaderThread<Result> {
  /** Rejects with UserError `busy` when a pull replaced the places in between. */
  readonly done: Promise<Result>;
  /** Ends the thread; nothing is written afterwards. */
  stop(): Promise<unknown>;
}

/** Starts a script of the compiled program, named by its path in it, which calls `readPlaces`; whoever started the program. */
export function startReader<Options, Result>(
  script: string,
  task: ReadTask<Options>,
  onProgress: (done: number) => void,
): ReaderThread<Result> {
  const worker = new Worker(join(appFolder, script), { workerData: task });
  const done = new Promise<Result>((resolve, reject) => {
    worker.on("message", (message: Message<Result>) => {
      if (message.kind === "progress") onProgress(message.done);
      else if (message.kind === "done") resolve(message.result);
      else
        reject(new UserError("busy", "A pull replaced the places while they were being built: build again."));
    });
    worker.on("error", reject);
    worker.on("exit", () => reject(new Error(`the thread of ${script} ended before its work`)));
  });
  done.catch(() => {}); // whoever waits for it is told; until then it is no unhandled rejection
  return { done, stop: () => worker.terminate() };
}

/** What a thread gives back; the memory of `moved` is handed over instead of copied. */
export interface Given<Result> {
  readonly result: Result;
  readonly moved?: readonly Transferable[];
}

/** In the thread: does the work that it was started for. */
export function readPlaces<Options, Result>(
  work: (store: Store, options: Options, onProgress: (done: number) => void) => Given<Result>,
): void {
  const { database, contentHash, options } = workerData as ReadTask<Options>;
  const post = (message: Message<Result>, moved: readonly Transferable[] = []): void =>
    parentPort?.postMessage(message, moved);
  const store = openStore(database);
  try {
    // A pull may end at any time: no file must show other places than the others hold.
    const isCurrent = (): boolean => store.contentHash() === contentHash;
    if (!isCurrent()) {
      post({ kind: "changed" });
      return;
    }
    const { result, moved } = work(store, options, (done) => post({ kind: "progress", done }));
    if (isCurrent()) post({ kind: "done", result }, moved);
    else post({ kind: "changed" });
  } finally {
    store.close();
  }
}
