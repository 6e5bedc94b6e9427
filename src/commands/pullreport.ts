/** What a pull did, as lines for a person. */

import type { CountedGroup, PullReport } from "../pull.js";
import type { RequestEvent } from "../sources/source.js";
import { categoryNumbers } from "../taxonomy.js";
import { formatCount } from "./command.js";

const shown = {
  changes: 20, // places that are named, of each list
  refusals: 20,
  ids: 30, // of a warning
  bar: 20, // characters
} as const;

/** One line while a service is asked: a bar over the requests, what is asked for now, and what each region brought. */
export function requestLine(event: RequestEvent, finished: Map<string, number>): string {
  if (event.records !== null && event.region !== null) finished.set(event.region, event.records);
  const done = event.records === null ? event.number - 1 : event.number;
  const filled = Math.round((Math.min(done, event.of) / event.of) * shown.bar);
  const bar = "█".repeat(filled) + "░".repeat(shown.bar - filled);
  const now = event.records === null ? event.label : `${event.label}: ${formatCount(event.records)}`;
  const regions = [...finished].map(([region, count]) => `  ${region} ${formatCount(count)}`);
  return [`${bar} ${done} of ${event.of} requests, ${now}`, ...regions].join("\n");
}

/** The whole report. */
export function pullLines(report: PullReport): string[] {
  const { places, before, database, provenance, difference } = report;
  if (report.unchanged)
    return [
      `The source is unchanged: ${formatCount(places)} places, data of ${provenance.date}. Nothing was written.`,
    ];
  const lines = [
    `Pulled ${formatCount(places)} places (${formatCount(before)} before) into ${database}; data of ${provenance.date}.`,
  ];
  lines.push(...groupTable(report.groups));
  lines.push(
    `  added ${formatCount(difference.added)}, changed ${formatCount(difference.changed)}, removed ${formatCount(difference.removed)}`,
  );
  for (const { id, name, what } of difference.list.slice(0, shown.changes))
    lines.push(`    ${id} ${name}: ${what}`);
  lines.push(...more(difference.list.length, shown.changes));
  for (const [repair, count] of Object.entries(report.repaired))
    lines.push(`  repaired, ${repair}: ${formatCount(count)}`);
  for (const [reason, count] of Object.entries(report.refused))
    lines.push(`  refused, ${reason}: ${formatCount(count)}`);
  for (const { reason, record } of report.refusals.slice(0, shown.refusals))
    lines.push(`    ${reason}: ${record}`);
  lines.push(...more(report.refusals.length, shown.refusals));
  for (const { text, ids } of report.warnings) {
    const named =
      ids.length === 0
        ? ""
        : `: ${ids.slice(0, shown.ids).join(", ")}${ids.length > shown.ids ? ", ..." : ""}`;
    lines.push(`  look: ${ids.length === 0 ? "" : `${formatCount(ids.length)} `}${text}${named}`);
  }
  return lines;
}

function more(count: number, named: number): string[] {
  return count > named ? ["    ... all of them with --json"] : [];
}

/** Regions down, categories across; a count that changed has the one before in brackets. */
function groupTable(groups: readonly CountedGroup[]): string[] {
  const regions = [...new Set(groups.map(({ region }) => region))];
  const columns = [...categoryNumbers, null];
  const cell = (chosen: readonly CountedGroup[]): string => {
    const count = chosen.reduce((sum, group) => sum + group.count, 0);
    const before = chosen.reduce((sum, group) => sum + group.before, 0);
    return count === before ? formatCount(count) : `${formatCount(count)} (${formatCount(before)})`;
  };
  const row = (label: string, of: readonly CountedGroup[]): string[] => [
    label,
    ...columns.map((category) => cell(of.filter((group) => group.category === category))),
    cell(of),
  ];
  const rows = [
    ["region \\ category", ...categoryNumbers.map(String), "none", "all"],
    ...regions.map((region) =>
      row(
        region ?? "(none)",
        groups.filter((group) => group.region === region),
      ),
    ),
    row("all", groups),
  ];
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length))) ?? [];
  return rows.map((cells) =>
    `  ${cells.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0))).join("  ")}`.trimEnd(),
  );
}
