/** `shelters mirror`: a copy of a release that is published elsewhere. */

import { type Command, Option } from "commander";
import { mirror } from "../mirror/mirror.js";
import type { MirrorReport } from "../mirror/run.js";
import { action } from "./command.js";
import { addMirrorOptions, type MirrorFlags } from "./mirrorflags.js";
import { describeReport, keepFresh, mirrorOptions } from "./mirroring.js";
import type { Reporter } from "./reporter.js";
import { untilStopped } from "./serve.js";

export function addMirror(program: Command): void {
  addMirrorOptions(
    program
      .command("mirror")
      .argument("<source>", "address of a release, or a folder that holds one")
      .description(
        "copy a published release: fetches what differs, checks every byte, goes on where it broke off",
      )
      .addOption(new Option("--site <folder>", "the copy").default("dist/mirror")),
  )
    .option("--force", "take a release that is older than the copy")
    .addHelpText(
      "after",
      `
Examples:
  shelters mirror https://example.org/shelters/
  shelters mirror /media/usb/shelters --site dist/site
  shelters mirror https://example.org/shelters/ --max-bytes 200k --max-rate 3k --every 6h`,
    )
    .action((source: string, flags: MirrorFlags & { readonly site: string }, command: Command) =>
      action<typeof flags>((given, reporter) => runMirror(source, given, reporter))(flags, command),
    );
}

async function runMirror(
  source: string,
  flags: MirrorFlags & { readonly site: string },
  reporter: Reporter,
): Promise<MirrorReport | undefined> {
  const options = { ...mirrorOptions(source, flags.site, flags, reporter), force: flags.force === true };
  if (flags.every === undefined) {
    const report = await mirror(options);
    reporter.line(describeReport(report));
    return report;
  }
  const stopped = new AbortController();
  void untilStopped().then(() => stopped.abort(new Error("stopped")));
  await keepFresh(options, flags.every, true, stopped.signal, reporter);
  return undefined;
}
