/** What every command shares: options with one wording and one default, and a reporter that is always put away. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_MEMORY } from "../release.js";
import { createReporter, type Output, type Reporter } from "../reporter.js";

const defaults = {
  database: "data/places.sqlite",
  site: "dist/site",
  host: "127.0.0.1",
  port: 8080,
} as const;

/** Shared options, made anew for each command. */
export const options = {
  database: () => new Option("--database <file>", "the places").default(defaults.database),
  site: () => new Option("--site <folder>", "the release").default(defaults.site),
  noBrotli: () => new Option("--no-brotli", "no .br files: a large build takes a fraction of the time"),
  host: () =>
    new Option("--host <address>", "address to listen on; 0.0.0.0 for every one").default(defaults.host),
  port: () =>
    new Option("--port <number>", "port to listen on; 0 for any free one")
      .default(defaults.port)
      .argParser(parsePort),
  memory: () =>
    new Option("--memory <size>", "memory for file contents; the rest is read from disk")
      .default(DEFAULT_MEMORY, "256M")
      .argParser(parseBytes),
  workers: () =>
    new Option("--workers <number>", "processes that share the port, each with files in memory of its own")
      .default(1)
      .argParser(parseWorkers),
  trustProxy: () =>
    new Option(
      "--trust-proxy",
      "believe the X-Forwarded headers of a proxy in front: absolute links, clients' addresses",
    ),
  accessLog: () =>
    new Option("--access-log <file>", 'a line of JSON for each request; "-" for standard output'),
  metricsPort: () =>
    new Option("--metrics-port <number>", "numbers for Prometheus at /metrics of this port").argParser(
      parsePort,
    ),
  metricsHost: () => new Option("--metrics-host <address>", "address of the metrics").default(defaults.host),
} as const;

/** Runs a command with a reporter of the global options; what it returns is printed with `--json`. */
export function action<Flags>(run: (flags: Flags, reporter: Reporter) => Promise<unknown>) {
  return async (flags: Flags, command: Command): Promise<void> => {
    const reporter = createReporter(command.optsWithGlobals<Output>());
    try {
      const result = await run(flags, reporter);
      if (result !== undefined) reporter.result(result);
    } finally {
      reporter.clear();
    }
  };
}

/** 12345 as 12,345. */
export const formatCount = new Intl.NumberFormat("en").format;

/** 1234567 as "1.2 MB". */
export function formatBytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65535) return port;
  throw new InvalidArgumentError("A port is an integer from 0 (any free one) to 65535.");
}

function parseWorkers(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= 128) return count;
  throw new InvalidArgumentError("A number of processes is an integer from 1 to 128.");
}

function parseBytes(text: string): number {
  const match = /^(\d{1,6})([kKmMgG]?)$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError("A size is an integer with K, M or G behind it, such as 256M.");
  return Number(match[1]) * 1024 ** ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
}
