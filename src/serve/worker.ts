/** A process of `serve --workers`: serves what the primary process tells it to, until it is told to stop. */

import { explain, UserError } from "../errors.js";
import { type Instance, startInstance } from "./instance.js";
import type { FromWorker, ToWorker } from "./workers.js";

let instance: Instance | null = null;

function tell(message: FromWorker): void {
  // The primary process may be gone: then nobody listens, and this one ends by itself.
  if (process.connected) process.send?.(message);
}

async function start(options: Extract<ToWorker, { readonly kind: "start" }>["options"]): Promise<void> {
  try {
    if (options.hasMetrics) (await import("./metrics.js")).shareMetrics();
    instance = await startInstance({ ...options, log: (line) => tell({ kind: "log", line }) });
    const { generation, date, count } = instance.release().manifest;
    tell({ kind: "ready", address: instance.address, generation, date, count });
  } catch (error) {
    const explained = explain(error);
    const code = explained instanceof UserError ? explained.code : null;
    tell({
      kind: "failed",
      code,
      message: explained instanceof Error ? explained.message : String(explained),
    });
    process.disconnect();
  }
}

async function stop(): Promise<void> {
  await instance?.close();
  process.exit(0);
}

process.on("message", (message: ToWorker) => {
  if (message.kind === "start") void start(message.options);
  else if (message.kind === "reopen") instance?.reopenLog();
  else if (message.kind === "stop") void stop();
});
// Ctrl+C reaches every process of a terminal: the primary one says when to stop.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => void stop());
tell({ kind: "hello" });
