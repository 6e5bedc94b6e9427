/** `shelters pack`: a release as a folder or zip file to carry. */

import type { Command } from "commander";
import { pack } from "../pack.js";
import type { Reporter } from "../reporter.js";
import { settle } from "../swap.js";
import { action, formatCount, options } from "./command.js";

export function addPack(program: Command): void {
  program
    .command("pack")
    .argument("<target>", "a folder, or a file that ends in .zip")
    .description("a copy for a USB stick, with checksums and a README in four languages")
    .addOption(options.site())
    .addHelpText(
      "after",
      "\nExamples:\n  shelters pack /media/usb/shelters\n  shelters pack shelters.zip --site dist/mirror",
    )
    .action((target: string, flags: { readonly site: string }, command: Command) =>
      action<typeof flags>(({ site }, reporter) => runPack(site, target, reporter))(flags, command),
    );
}

async function runPack(site: string, target: string, reporter: Reporter): Promise<unknown> {
  settle(site);
  const report = await pack(site, target, (files) =>
    reporter.step(`Checking the release: ${formatCount(files)} files`),
  );
  const sum = report.sha256 === null ? "" : `, SHA-256 ${report.sha256}`;
  reporter.line(`Packed ${target}: ${formatCount(report.files)} files, data of ${report.date}${sum}.`);
  return report;
}
