/** `shelters serve`: a release over HTTP. */

import type { Command } from "commander";
import { type Instance, type InstanceOptions, startInstance } from "../serve/instance.js";
import { type Served, startWorkers } from "../serve/workers.js";
import { action, formatCount, options } from "./command.js";
import { addMirrorOptions, MIRRORED_SITE, type MirrorFlags } from "./mirrorflags.js";
import type { Reporter } from "./reporter.js";

export interface ServeFlags {
  readonly site: string;
  readonly host: string;
  readonly port: number;
  readonly memory: number;
  readonly workers: number;
  readonly trustProxy?: boolean;
  readonly accessLog?: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  /** Address or folder of the release to keep a fresh copy of. */
  readonly mirror?: string;
  readonly lan?: boolean;
  readonly wifi?: string;
}

export function addServe(program: Command): void {
  const command = addServingOptions(
    program
      .command("serve")
      .description("serve a release: its files, and /api.php")
      .addOption(options.site())
      .option(
        "--mirror <source>",
        `serve a copy of this release and keep it fresh; default of --site: ${MIRRORED_SITE}`,
      )
      .option("--lan", "for a local network: every address, a QR code, and a sheet of paper to print")
      .option("--wifi <name>", "name of the Wi-Fi, for the sheet")
      .addHelpText(
        "after",
        `
Examples:
  shelters serve --host 0.0.0.0 --port 8080
  shelters serve --lan --wifi "Refuge"
  shelters serve --mirror https://example.org/shelters/ --every 6h
  shelters serve --workers 4 --trust-proxy --access-log /var/log/shelters/access.log --metrics-port 9090

/healthz says that it answers, of which generation, and how old the data are. SIGTERM ends it when the answers in flight
are sent; SIGHUP opens the access log anew.`,
      ),
  );
  addMirrorOptions(command).action((flags: ServeFlags & MirrorFlags, given: Command) => {
    const isDefault = flags.mirror !== undefined && given.getOptionValueSource("site") === "default";
    return action(runServe)(isDefault ? { ...flags, site: MIRRORED_SITE } : flags, given);
  });
}

/** The options of a command that serves. */
export function addServingOptions(command: Command): Command {
  return command
    .addOption(options.host())
    .addOption(options.port())
    .addOption(options.memory())
    .addOption(options.workers())
    .addOption(options.trustProxy())
    .addOption(options.accessLog())
    .addOption(options.metricsPort())
    .addOption(options.metricsHost());
}

/** Serves until SIGINT or SIGTERM. */
export async function runServe(given: ServeFlags & Partial<MirrorFlags>, reporter: Reporter): Promise<void> {
  const flags = given.lan === true ? { ...given, host: "0.0.0.0" } : given;
  const { mirror, lan } = flags;
  // Only who mirrors pays for the modules that do: they take as much memory as all others together.
  const refuge = mirror === undefined && lan !== true ? null : await import("./refuge.js");
  const hadCopy = mirror !== undefined && (await refuge?.haveCopy(mirror, flags, reporter)) === true;
  const serving = await startServing(flags, (line) => reporter.line(line));
  // Before the address is printed: whoever reads it may send a signal at once.
  const signalled = untilStopped();
  const { address, generation, date, count } = serving.served;
  reporter.line(`Serving ${formatCount(count)} places, data of ${date}, at ${address}
Try:
  ${address}/                                    the page
  curl '${address}/api.php?format=json&limit=3'
  curl '${address}/api.php?format=gpx&bbox=-0.5,42.6,0.5,43&type_lieu=5'
Stop with Ctrl+C.`);
  if (lan === true) refuge?.showLan(flags, Number(new URL(address).port || 80), reporter);
  const metrics = await startMetrics(flags, serving.metricsText);
  if (metrics !== null) reporter.line(`Metrics at ${metrics.address}`);
  reporter.result({
    address,
    generation,
    date,
    places: count,
    ...(metrics !== null && { metrics: metrics.address }),
  });
  process.on("SIGHUP", serving.reopenLogs);
  const stopped = new AbortController();
  if (mirror !== undefined) void refuge?.renew(mirror, flags, hadCopy, stopped.signal, reporter);
  await signalled;
  stopped.abort(new Error("stopped"));
  metrics?.close();
  await serving.close();
  // What is left (the listening port of --workers, a log that is being flushed) has no work to do.
  process.off("SIGHUP", serving.reopenLogs);
}

interface Serving {
  readonly served: Served;
  readonly metricsText: () => Promise<string>;
  reopenLogs(): void;
  close(): Promise<void>;
}

/** In this process, or in several that share the port. */
async function startServing(flags: ServeFlags, log: (line: string) => void): Promise<Serving> {
  const { site, host, port, memory, workers, trustProxy = false, accessLog = null, metricsPort } = flags;
  const hasMetrics = metricsPort !== undefined;
  const given: InstanceOptions = { site, host, port, memory, trustProxy, accessLog, hasMetrics, log };
  if (workers > 1) {
    const metricsText = hasMetrics ? (await import("../serve/metrics.js")).gatherMetrics() : async () => "";
    const started = await startWorkers(workers, given);
    return { served: started, metricsText, reopenLogs: started.reopenLogs, close: started.close };
  }
  const instance: Instance = await startInstance(given);
  const { generation, date, count } = instance.release().manifest;
  return {
    served: { address: instance.address, generation, date, count },
    metricsText: async () => (await instance.metrics?.text()) ?? "",
    reopenLogs: instance.reopenLog,
    close: () => instance.close(),
  };
}

async function startMetrics({ metricsHost, metricsPort }: ServeFlags, text: () => Promise<string>) {
  if (metricsPort === undefined) return null;
  const { serveMetrics } = await import("../serve/metrics.js");
  return await serveMetrics(metricsHost, metricsPort, text);
}

/** Waits for SIGINT or SIGTERM. A second signal does not wait for the answers in flight. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(0));
        resolve();
      });
    }
  });
}
