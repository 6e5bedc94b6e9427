/** Starts the thread that writes the map's files, and waits for it: beside the exports, on another processor. */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { UserError } from "./errors.js";
import { appFolder } from "./program.js";
import type { TileAbout, TileOptions, WrittenTiles } from "./tilefiles.js";

export interface TileTask {
  readonly database: string;
  readonly folder: string;
  /** Of the places that the exports are written from. */
  readonly contentHash: string;
  readonly about: TileAbout;
  readonly options: TileOptions;
}

export type TileMessage =
  | { readonly kind: "progress"; readonly tiles: number }
  | { readonly kind: "changed" }
  | { readonly kind: "done"; readonly written: WrittenTiles };

export interface TileWork {
  /** Rejects with UserError `busy` when the database changed in between. */
  readonly done: Promise<WrittenTiles>;
  /** Ends the thread; nothing is written afterwards. */
  stop(): Promise<unknown>;
}

/** The thread runs the compiled program, whoever started it. */
export function startTiles(task: TileTask, onProgress: (tiles: number) => void): TileWork {
  const worker = new Worker(join(appFolder, "tileworker.js"), { workerData: task });
  const done = new Promise<WrittenTiles>((resolve, reject) => {
    worker.on("message", (message: TileMessage) => {
      if (message.kind === "progress") onProgress(message.tiles);
      else if (message.kind === "done") resolve(message.written);
      else
        reject(new UserError("busy", "A pull replaced the places while they were being built: build again."));
    });
    worker.on("error", reject);
    worker.on("exit", () => reject(new Error("the thread that writes the tiles ended before its work")));
  });
  done.catch(() => {}); // whoever waits for it is told; until then it is no unhandled rejection
  return { done, stop: () => worker.terminate() };
}
