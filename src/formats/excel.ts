/**
 * CSV as spreadsheets with French, Spanish or Catalan settings open it by a double click: byte order mark (else accents
 * break), semicolons, decimal commas (else 22.5 becomes 22 May), an apostrophe before what looks like a day, and no line break
 * inside a cell.
 */

import { formatDecimal, type Place } from "../place.js";
import { guardFormula } from "./csv.js";
import type { About, Format } from "./format.js";
import { extraText, propertyNames, propertyValues } from "./properties.js";

export const excelCsv: Format = {
  mediaType: "text/csv; charset=utf-8; header=present",
  prologue: ({ extraKeys }: About) =>
    `\uFEFF${line([...propertyNames, "longitude", "latitude", ...extraKeys].map(cell))}`,
  place: (place: Place) =>
    line(
      [...propertyValues(place), place.lon, place.lat, ...place.extra.map(([, value]) => value)].map(cell),
    ),
  separator: "",
  epilogue: () => "",
};

function line(cells: readonly string[]): string {
  return `${cells.join(";")}\r\n`;
}

// Numbers with signs between them, which spreadsheets take for a day or a time: a capacity of 2-3 becomes the 2nd of March.
const DATE = /^\s*\d+(\s*[-/:.]\s*\d+)+\s*$/;

/** Text that stays as somebody wrote it. */
function guardDate(text: string): string {
  return DATE.test(text) ? `'${text}` : text;
}

function cell(value: Place["extra"][number][1]): string {
  if (typeof value === "number") return formatDecimal(value).replace(".", ",");
  const text = guardDate(guardFormula(extraText(value)).replace(/[\n\t\u2028\u2029]+/g, " "));
  return /[";]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
