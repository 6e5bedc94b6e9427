/** The access log: one JSON object a line, for machines; numbers and words of ours, never text of a request. */

import pino from "pino";
import type { Observer } from "./observe.js";

export interface AccessLog {
  readonly observe: Observer;
  /** Opens the file anew, after it was moved away (logrotate). */
  reopen(): void;
  close(): void;
}

/** Writes to a file, or to standard output for `-`. Throws when the file cannot be written. */
export function openAccessLog(path: string, trustProxy: boolean): AccessLog {
  const target = pino.destination({ dest: path === "-" ? 1 : path, append: true, mkdir: false, sync: true });
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, target);
  return {
    observe: (seen) => {
      log.info({
        client: seen.client(trustProxy),
        method: seen.method,
        route: seen.route,
        asked: seen.asked(),
        status: seen.status,
        bytes: seen.bytes,
        coding: seen.coding,
        ms: Math.round(seen.seconds * 1e6) / 1e3,
        complete: seen.isComplete,
      });
    },
    reopen: () => {
      if (path !== "-") target.reopen();
    },
    close: () => target.end(),
  };
}
