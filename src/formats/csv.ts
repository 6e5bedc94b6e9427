/** CSV, RFC 4180: comma, CRLF, header always, dot decimals, an empty cell for unknown, no byte order mark. */

import { formatDecimal, type Place } from "../place.js";
import type { About, Format } from "./format.js";
import { extraText, propertyNames, propertyValues } from "./properties.js";

export const csv: Format = {
  mediaType: "text/csv; charset=utf-8; header=present",
  prologue: ({ extraKeys }: About) =>
    line([...propertyNames, "longitude", "latitude", ...extraKeys].map(textCell)),
  place,
  separator: "",
  epilogue: () => "",
};

function place(place: Place): string {
  const properties = propertyValues(place).map((value) =>
    typeof value === "string" ? textCell(value) : numberCell(value),
  );
  const extra = place.extra.map(([, value]) =>
    typeof value === "number" ? String(value) : textCell(extraText(value)),
  );
  return line([...properties, numberCell(place.lon), numberCell(place.lat), ...extra]);
}

function line(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}

function numberCell(value: number | null): string {
  return value === null ? "" : formatDecimal(value);
}

/**
 * Spreadsheets run a cell that begins like a formula, quoted or not (OWASP "CSV injection"), full-width twins included.
 * A leading apostrophe makes it text. A cell that already begins with apostrophes before such a character gets one
 * more, so that taking one away is always right.
 */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;

/** Text that no spreadsheet takes for a formula. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function textCell(text: string): string {
  const guarded = guardFormula(text);
  return /[",\r\n]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** The text that `guardFormula` guarded. */
export function unguardCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
