/** `shelters start`: whatever of pull and build is needed, then serve. */

import { existsSync } from "node:fs";
import type { Command } from "commander";
import { UserError } from "../errors.js";
import { generationOf } from "../facts.js";
import { readManifest } from "../manifest.js";
import type { Reporter } from "../reporter.js";
import { openStore } from "../store.js";
import { settle } from "../swap.js";
import { type BuildFlags, runBuild } from "./build.js";
import { action, options } from "./command.js";
import { runPull } from "./pull.js";
import { addServingOptions, runServe, type ServeFlags } from "./serve.js";

type Places = Pick<BuildFlags, "database" | "site">;
type StartFlags = Places & ServeFlags;

export function addStart(program: Command): void {
  addServingOptions(
    program
      .command("start")
      .description("pull if there is no database, build if the release is not of it, serve")
      .addOption(options.database())
      .addOption(options.site())
      .addHelpText("after", "\nExample:\n  shelters start --port 9000"),
  ).action(action(runStart));
}

async function runStart(flags: StartFlags, reporter: Reporter): Promise<void> {
  if (!existsSync(flags.database)) await runPull({ database: flags.database }, reporter);
  settle(flags.site);
  if (!isCurrent(flags)) await runBuild({ database: flags.database, site: flags.site }, reporter);
  await runServe(flags, reporter);
}

/** Whether the release holds what the database holds, written by this program. */
function isCurrent({ database, site }: Places): boolean {
  const store = openStore(database);
  try {
    return readManifest(site).manifest.generation === generationOf(store);
  } catch (error) {
    if (error instanceof UserError && error.code === "damaged") return false;
    throw error;
  } finally {
    store.close();
  }
}
