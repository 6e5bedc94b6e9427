#!/usr/bin/env node
/** The command line: the only reader of arguments, and the table of contents of the program. */

import { Command, CommanderError } from "commander";
import { addAudit } from "./commands/audit.js";
import { addBuild } from "./commands/build.js";
import { addDoctor } from "./commands/doctor.js";
import { addMirror } from "./commands/mirror.js";
import { addPack } from "./commands/pack.js";
import { addPublish } from "./commands/publish.js";
import { addPull } from "./commands/pull.js";
import { addServe } from "./commands/serve.js";
import { addSign } from "./commands/sign.js";
import { addStart } from "./commands/start.js";
import { addVerify } from "./commands/verify.js";
import { EXIT_BUG, errorCodes, explain, UserError } from "./errors.js";
import { program as self } from "./program.js";

const commands = [
  addPull,
  addAudit,
  addBuild,
  addServe,
  addMirror,
  addPack,
  addSign,
  addVerify,
  addStart,
  addPublish,
  addDoctor,
];

function createProgram(): Command {
  const exits = Object.values(errorCodes).map(({ exit, meaning }) => `  ${exit}  ${meaning}`);
  const program = new Command("shelters")
    .description(
      "Mountain refuges, huts and shelters: pull them, build a release of static exports, serve it as files and as /api.php.",
    )
    .version(self.version)
    .option("-q, --quiet", "print errors only")
    .option("--json", "print the result as one line of JSON on standard output")
    .showHelpAfterError("(see --help)")
    .exitOverride()
    .addHelpText(
      "after",
      `
Examples:
  shelters start                              the bundled places, built and served at http://127.0.0.1:8080
  shelters pull --from places.geojson         other places: CSV, JSON or GeoJSON, or - for standard input
  shelters build && shelters verify           a release in dist/site, ready to upload
  shelters serve --host 0.0.0.0 --port 80     for a local network
  shelters mirror https://example.org/huts/   a copy that fetches only what changed

Exit codes:
  0  done
  ${EXIT_BUG}  a bug of the program
${exits.join("\n")}`,
    );
  for (const add of commands) add(program);
  return program;
}

/** Exit code for whatever went wrong, after saying it. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : errorCodes.usage.exit;
  const explained = explain(error);
  if (explained instanceof UserError) {
    const details = explained.details.map((detail) => `  ${detail}\n`).join("");
    process.stderr.write(`shelters: ${explained.message}\n${details}`);
    return errorCodes[explained.code].exit;
  }
  const stack = explained instanceof Error ? explained.stack : String(explained);
  process.stderr.write(`shelters: this is a bug: ${stack}\n`);
  return EXIT_BUG;
}

// A reader that goes away (`shelters --json build | head -1`) is no fault.
process.stdout.on("error", () => process.exit(0));

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}
