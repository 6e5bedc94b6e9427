/** A server with all that an operator may have asked for: access log, counting. One for each process. */

import type { Release } from "../release/release.js";
import type { AccessLog } from "./accesslog.js";
import type { Metrics } from "./metrics.js";
import { type RunningServer, type ServerOptions, startServer } from "./server.js";

export interface InstanceOptions extends Pick<ServerOptions, "site" | "host" | "port" | "log"> {
  readonly memory: number;
  readonly trustProxy: boolean;
  /** A file, `-` for standard output, null for none. */
  readonly accessLog: string | null;
  readonly hasMetrics: boolean;
}

export interface Instance extends RunningServer {
  readonly metrics: Metrics | null;
  /** Opens the access log anew, after it was moved away. */
  reopenLog(): void;
}

/** Starts what the options ask for. Throws as `startServer`, and when the log cannot be written. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const accessLog = await openLog(options);
  const running: { server?: RunningServer } = {};
  const metrics = await startMetrics(options, () => running.server?.release());
  const observers = [accessLog?.observe, metrics?.observe].filter((one) => one !== undefined);
  const server = await startServer({ ...options, observers });
  running.server = server;
  return {
    ...server,
    metrics,
    reopenLog: () => accessLog?.reopen(),
    close: async () => {
      await server.close();
      accessLog?.close();
    },
  };
}

// What was not asked for is not loaded: it would be a tenth of the memory of a server.

async function openLog({ accessLog, trustProxy }: InstanceOptions): Promise<AccessLog | null> {
  if (accessLog === null) return null;
  const { openAccessLog } = await import("./accesslog.js");
  return openAccessLog(accessLog, trustProxy);
}

async function startMetrics(
  { hasMetrics }: InstanceOptions,
  release: () => Release | undefined,
): Promise<Metrics | null> {
  if (!hasMetrics) return null;
  const { countAnswers } = await import("./metrics.js");
  return countAnswers(release);
}
