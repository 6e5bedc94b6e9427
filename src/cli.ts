#!/usr/bin/env node
/** The command line: the only reader of arguments, and the table of contents of the program. */

import { Command, CommanderError } from "commander";
import { EXIT_BUG, errorCodes, explain, UserError } from "./errors.js";
import { program as self } from "./program.js";

type Add = (program: Command) => void;

const commands: Readonly<Record<string, () => Promise<Add>>> = {
  pull: async () => (await import("./commands/pull.js")).addPull,
  audit: async () => (await import("./commands/audit.js")).addAudit,
  build: async () => (await import("./commands/build.js")).addBuild,
  serve: async () => (await import("./commands/serve.js")).addServe,
  mirror: async () => (await import("./commands/mirror.js")).addMirror,
  pack: async () => (await import("./commands/pack.js")).addPack,
  sign: async () => (await import("./commands/sign.js")).addSign,
  verify: async () => (await import("./commands/verify.js")).addVerify,
  start: async () => (await import("./commands/start.js")).addStart,
  publish: async () => (await import("./commands/publish.js")).addPublish,
  doctor: async () => (await import("./commands/doctor.js")).addDoctor,
};

/** The command that was asked for, alone: the modules of the others take half a second and 30 MiB. All of them for help and for what is none. */
function commandsFor(args: readonly string[]): Promise<Add[]> {
  const asked = args.find((arg) => !arg.startsWith("-")) ?? "";
  const only = Object.hasOwn(commands, asked) ? commands[asked] : undefined;
  return Promise.all((only === undefined ? Object.values(commands) : [only]).map((load) => load()));
}

async function createProgram(): Promise<Command> {
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
  for (const add of await commandsFor(process.argv.slice(2))) add(program);
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
  await (await createProgram()).parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}
