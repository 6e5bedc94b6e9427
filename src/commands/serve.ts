/** `shelters serve`: a release over HTTP. */

import type { Command } from "commander";
import type { Reporter } from "../reporter.js";
import { startServer } from "../server.js";
import { action, formatCount, options } from "./command.js";

export interface ServeFlags {
  readonly site: string;
  readonly host: string;
  readonly port: number;
  readonly memory: number;
}

export function addServe(program: Command): void {
  addServingOptions(
    program
      .command("serve")
      .description("serve a release: its files, and /api.php")
      .addOption(options.site())
      .addHelpText("after", "\nExample:\n  shelters serve --host 0.0.0.0 --port 8080"),
  ).action(action(runServe));
}

/** The options of a command that serves. */
export function addServingOptions(command: Command): Command {
  return command.addOption(options.host()).addOption(options.port()).addOption(options.memory());
}

/** Serves until SIGINT or SIGTERM. */
export async function runServe({ site, host, port, memory }: ServeFlags, reporter: Reporter): Promise<void> {
  const server = await startServer({ site, host, port, memory, log: (line) => reporter.line(line) });
  // Heard before the address is said: who reads it may stop the server at once.
  const signal = stopSignal();
  const { manifest } = server.release();
  reporter.line(`Serving ${formatCount(manifest.count)} places, data of ${manifest.date}, at ${server.address}
Try:
  ${server.address}/                                    the page
  curl '${server.address}/api.php?format=json&limit=3'
  curl '${server.address}/api.php?format=gpx&bbox=-0.5,42.6,0.5,43&type_lieu=5'
Stop with Ctrl+C.`);
  const { generation, date, count } = manifest;
  reporter.result({ address: server.address, generation, date, places: count });
  await signal;
  await server.close();
}

/** Resolves at SIGINT or SIGTERM; a second signal does not wait for the answers in flight. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(0));
        resolve();
      });
    }
  });
}
