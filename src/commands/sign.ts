/** `shelters sign`: a release signed by its publisher. */

import type { Command } from "commander";
import { UserError } from "../errors.js";
import type { Reporter } from "../reporter.js";
import { createKeys, signRelease } from "../sign.js";
import { settle } from "../swap.js";
import { action, options } from "./command.js";

interface SignFlags {
  readonly site: string;
  readonly key?: string;
  readonly newKey?: string;
}

export function addSign(program: Command): void {
  program
    .command("sign")
    .description("sign the manifest of a release (Ed25519), so that mirrors can tell whose it is")
    .addOption(options.site())
    .option("--key <file>", "private key (PEM)")
    .option("--new-key <file>", "make a new pair of keys: <file> and <file>.pub")
    .addHelpText(
      "after",
      `
Examples:
  shelters sign --new-key shelters.key
  shelters build && shelters sign --key shelters.key
  shelters mirror https://example.org/shelters/ --public-key shelters.key.pub`,
    )
    .action(action(runSign));
}

async function runSign({ site, key, newKey }: SignFlags, reporter: Reporter): Promise<unknown> {
  if (newKey !== undefined && key === undefined) {
    const keys = createKeys(newKey);
    reporter.line(`Made ${keys.privateKey} (keep it secret) and ${keys.publicKey} (give it to mirrors).`);
    return keys;
  }
  if (key === undefined || newKey !== undefined)
    throw new UserError("usage", "Name a private key with --key, or make one with --new-key.");
  settle(site);
  const signed = signRelease(site, key);
  reporter.line(`Signed generation ${signed.generation}: ${signed.signature}.`);
  return signed;
}
