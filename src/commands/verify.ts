/** `shelters verify`: every file of a release against its manifest. */

import type { Command } from "commander";
import { UserError } from "../errors.js";
import { signatureFault } from "../mirror/sign.js";
import { verifyRelease } from "../release/manifest.js";
import { settle } from "../release/swap.js";
import { action, formatCount, options } from "./command.js";
import type { Reporter } from "./reporter.js";

export function addVerify(program: Command): void {
  program
    .command("verify")
    .description("check every file of a release against its manifest")
    .addOption(options.site())
    .option("--public-key <file>", "the manifest must be signed by this key (PEM)")
    .addHelpText("after", "\nExample:\n  shelters verify --site /media/usb/shelters && echo whole")
    .action(action(runVerify));
}

interface VerifyFlags {
  readonly site: string;
  readonly publicKey?: string;
}

async function runVerify({ site, publicKey }: VerifyFlags, reporter: Reporter): Promise<void> {
  settle(site);
  const {
    manifest,
    files,
    faults: found,
  } = await verifyRelease(site, (done) => reporter.step(`Verifying: ${formatCount(done)} files`));
  const unsigned = publicKey === undefined ? null : signatureFault(site, publicKey);
  const faults = unsigned === null ? found : [...found, unsigned];
  reporter.result({ site, generation: manifest.generation, date: manifest.date, files, faults });
  if (faults.length > 0) {
    const summary = `${faults.length} of ${files} files of ${site} differ from the manifest. Build or mirror the release again.`;
    throw new UserError("damaged", summary, faults);
  }
  reporter.line(
    `${site} is whole: ${formatCount(files)} files, generation ${manifest.generation}, data of ${manifest.date}.`,
  );
}
