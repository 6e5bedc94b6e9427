/** A server with all that an operator may have asked for: access log, counting. One for each process. */

import { type AccessLog, openAccessLog } from "./accesslog.js";
import { countAnswers, type Metrics } from "./metrics.js";
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
  const accessLog: AccessLog | null =
    options.accessLog === null ? null : openAccessLog(options.accessLog, options.trustProxy);
  const running: { server?: RunningServer } = {};
  const metrics = options.hasMetrics ? countAnswers(() => running.server?.release()) : null;
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
