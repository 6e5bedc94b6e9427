/** Several processes that share one port: one that dies is replaced, and all stop together. */

import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type ErrorCode, UserError } from "./errors.js";
import type { InstanceOptions } from "./instance.js";

/** What is being served, as a worker found it. */
export interface Served {
  readonly address: string;
  readonly generation: string;
  readonly date: string;
  readonly count: number;
}

export type ToWorker =
  | { readonly kind: "start"; readonly options: Omit<InstanceOptions, "log"> }
  | { readonly kind: "reopen" }
  | { readonly kind: "stop" };

export type FromWorker =
  | { readonly kind: "hello" }
  | ({ readonly kind: "ready" } & Served)
  | { readonly kind: "failed"; readonly code: ErrorCode | null; readonly message: string }
  | { readonly kind: "log"; readonly line: string };

export interface Workers extends Served {
  reopenLogs(): void;
  /** Every worker ends its answers in flight. */
  close(): Promise<void>;
}

const times = {
  replace: 1_000, // ms until a dead worker is replaced: one that dies at once must not keep a core busy
} as const;

/** Starts `count` processes; resolves when all of them answer. Throws what the first that fails says. */
export async function startWorkers(count: number, options: InstanceOptions): Promise<Workers> {
  const { log, ...given } = options;
  cluster.setupPrimary({ exec: fileURLToPath(new URL("./worker.js", import.meta.url)), args: [] });
  const workers = new Set<Worker>();
  let isStopping = false;
  // Port 0 too: the primary process gives all workers the one that the first of them got.
  const launch = async (): Promise<Served> => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.once("exit", (code, signal) => {
      workers.delete(worker);
      if (isStopping) return;
      log(`Worker ${worker.process.pid} ended (${signal ?? code}); another one takes its place.`);
      setTimeout(() => {
        if (!isStopping) launch().catch((error: unknown) => log(`No worker: ${String(error)}`));
      }, times.replace);
    });
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "log") log(message.line);
      // What is sent before a worker listens is lost.
      if (message.kind === "hello") send(worker, { kind: "start", options: given });
    });
    return await untilReady(worker);
  };
  const close = async (): Promise<void> => {
    isStopping = true;
    const ended = [...workers].map((worker) => once(worker, "exit"));
    for (const worker of workers) send(worker, { kind: "stop" });
    await Promise.all(ended);
  };
  try {
    // The first alone: it says what is wrong.
    const first = await launch();
    await Promise.all(Array.from({ length: count - 1 }, launch));
    return {
      ...first,
      reopenLogs: () => {
        for (const worker of workers) send(worker, { kind: "reopen" });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function send(worker: Worker, message: ToWorker): void {
  // One that is ending may have closed its end already: its exit is dealt with elsewhere.
  if (worker.isConnected()) worker.send(message, () => {});
}

function untilReady(worker: Worker): Promise<Served> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "ready") resolve(message);
      if (message.kind === "failed")
        reject(
          message.code === null ? new Error(message.message) : new UserError(message.code, message.message),
        );
    });
    worker.once("exit", (code) => reject(new Error(`A worker ended with ${code} before it answered.`)));
  });
}
