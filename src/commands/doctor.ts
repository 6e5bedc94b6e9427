/** `shelters doctor`: what a published copy does right, what is broken, and what that breaks. */

import type { Command } from "commander";
import { UserError } from "../errors.js";
import type { Finding, Verdict } from "../publish/checks/check.js";
import { diagnose } from "../publish/doctor.js";
import { action } from "./command.js";
import type { Reporter } from "./reporter.js";

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

type Row = readonly [verdict: string, about: string, path: string, found: string];

/** One line a finding, in columns, with what it breaks below; the same thing that is right on several files is one line. */
function tableOf(findings: readonly Finding[]): string[] {
  const right = new Map<string, Finding[]>();
  for (const one of findings.filter(({ verdict }) => verdict === "right"))
    right.set(one.about, [...(right.get(one.about) ?? []), one]);
  const rows = findings.flatMap((one): { readonly row: Row; readonly breaks: string }[] => {
    const { verdict, about, path, found, breaks } = one;
    const same = verdict === "right" ? (right.get(about) ?? []) : [];
    if (same.length <= 1)
      return [{ row: [verdict === "danger" ? "DANGER" : verdict, about, path, found], breaks }];
    return same[0] === one ? [{ row: ["right", about, `${same.length} files`, ""], breaks }] : [];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map(({ row }) => (row[column] ?? "").length)));
  return rows.flatMap(({ row, breaks }) => [
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
    ...(breaks === "" ? [] : [`${" ".repeat((widths[0] ?? 0) + 2)}${breaks}`]),
  ]);
}
