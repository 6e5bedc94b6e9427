/** `shelters audit`: what looks wrong in the database, as questions with links. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { audit, type CheckName, checks, type Finding } from "../audit.js";
import type { Reporter } from "../reporter.js";
import { openStore } from "../store.js";
import { action, formatCount, options } from "./command.js";

interface AuditFlags {
  readonly database: string;
  readonly only?: readonly CheckName[];
}

export function addAudit(program: Command): void {
  const names = Object.entries(checks).map(([name, what]) => `  ${name.padEnd(10)} ${what}`);
  program
    .command("audit")
    .description("list places that look wrong, with links; alters nothing")
    .addOption(options.database())
    .addOption(new Option("--only <checks>", "some of the checks, comma-separated").argParser(parseChecks))
    .addHelpText(
      "after",
      `\nChecks:\n${names.join("\n")}\n\nExample:\n  shelters audit --only duplicate,position`,
    )
    .action(action(runAudit));
}

async function runAudit({ database, only }: AuditFlags, reporter: Reporter): Promise<void> {
  const store = openStore(database);
  try {
    reporter.step("Looking at every place");
    const findings = audit(store.places()).filter(({ check }) => only?.includes(check) ?? true);
    for (const line of lines(findings, only)) reporter.line(line);
    reporter.line(
      `${formatCount(findings.length)} questions about ${formatCount(store.count())} places of ${database}; nothing was altered.`,
    );
    reporter.result({ database, places: store.count(), findings });
  } finally {
    store.close();
  }
}

/** A heading for each check, then a line for each finding; the link last, where nothing cuts it. */
function lines(findings: readonly Finding[], only: AuditFlags["only"]): string[] {
  return Object.entries(checks)
    .filter(([name]) => only?.some((one) => one === name) ?? true)
    .flatMap(([name, what]) => {
      const found = findings.filter(({ check }) => check === name);
      const heading = `${name}: ${what}: ${formatCount(found.length)}`;
      const width = Math.max(0, ...found.map(({ id }) => String(id).length));
      return [
        heading,
        ...found.map(
          (one) => `  ${String(one.id).padStart(width)}  ${one.name}  |  ${one.what}  |  ${one.link}`,
        ),
      ];
    });
}

function parseChecks(text: string): readonly CheckName[] {
  const known = Object.keys(checks) as CheckName[];
  const names = text.split(",").map((name) => known.find((check) => check === name.trim()));
  if (names.includes(undefined)) throw new InvalidArgumentError(`One or more of ${known.join(", ")}.`);
  return names.filter((name) => name !== undefined);
}
