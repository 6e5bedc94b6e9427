/** `shelters doctor`: what a published copy does right, what is broken, and what that breaks. */

import type { Command } from "commander";
import type { Finding, Verdict } from "../checks/check.js";
import { diagnose } from "../doctor.js";
import { UserError } from "../errors.js";
import type { Reporter } from "../reporter.js";
import { action } from "./command.js";

export function addDoctor(program: Command): void {
  const run = action(runDoctor);
  program
    .command("doctor")
    .description("ask a published copy about types, codings, ranges, validators, caches and api.php")
    .argument("<url>", "address of the copy: the folder that holds manifest.json")
    .addHelpText("after", "\nExample:\n  shelters doctor https://shelters.example.org/pyrenees/")
    .action((url: string, flags: object, command: Command) => run({ ...flags, url }, command));
}

async function runDoctor({ url }: { readonly url: string }, reporter: Reporter): Promise<void> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new UserError("usage", "Name an address that begins with http:// or https://.");
  const diagnosis = await diagnose(url, (done, of) => reporter.step(`Asking: ${done} of ${of} checks`));
  const { manifest, findings, requests } = diagnosis;
  const { generation, date } = manifest;
  reporter.result({ url: diagnosis.url, generation, date, requests, findings });
  reporter.line(`${diagnosis.url}: generation ${generation}, data of ${date}, ${requests} requests.`);
  for (const line of tableOf(findings)) reporter.line(line);
  const count = (verdict: Verdict): number => findings.filter((one) => one.verdict === verdict).length;
  reporter.line(
    `${count("right")} right, ${count("absent")} absent, ${count("broken")} broken, ${count("danger")} dangerous.`,
  );
  const dangers = findings.filter(({ verdict }) => verdict === "danger");
  if (dangers.length > 0)
    throw new UserError(
      "damaged",
      `Readers of ${diagnosis.url} may get wrong or old data.`,
      dangers.map(({ about, path, breaks }) => `${about} (${path}): ${breaks}`),
    );
}

/** The same thing on several files is one line, when all is right with it. */
function tableOf(findings: readonly Finding[]): string[] {
  const right = new Map<string, Finding[]>();
  for (const one of findings.filter(({ verdict }) => verdict === "right"))
    right.set(one.about, [...(right.get(one.about) ?? []), one]);
  const rows = findings.flatMap((one) => {
    const same = right.get(one.about) ?? [];
    if (one.verdict !== "right" || same.length === 1) return [row(one.verdict, one.about, one.path, one)];
    return same[0] === one
      ? [row("right", one.about, `${same.length} files`, { found: "", breaks: "" })]
      : [];
  });
  return rows.map((line) => line.trimEnd());
}

function row(
  verdict: Verdict,
  about: string,
  path: string,
  { found, breaks }: Pick<Finding, "found" | "breaks">,
): string {
  const sign = verdict === "danger" ? "DANGER" : verdict;
  const consequence = breaks === "" ? "" : `\n         ${breaks}`;
  return `${sign.padEnd(7)}  ${about.padEnd(26)}  ${path.padEnd(28)}  ${found}${consequence}`;
}
