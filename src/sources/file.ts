/** Records from a CSV, JSON or GeoJSON file or from standard input, streamed: memory does not grow with the file. */

import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { TextDecoderStream } from "node:stream/web";
import { parse as csvParser } from "csv-parse";
import { Assembler } from "stream-json/assembler.js";
import { parser as jsonParser, type Token } from "stream-json/parser.js";
import { UserError } from "../errors.js";
import { unguardCell } from "../formats/csv.js";
import type { Provenance } from "../place.js";
import { refuseOtherDatum } from "./datum.js";
import { isoSeconds, pickProvenance, saidDate } from "./provenance.js";
import type { Source, SourceItem } from "./source.js";

/** Records, and what the file says of itself. */
type FileItem = Extract<
  SourceItem,
  { readonly record: unknown } | { readonly about: unknown } | { readonly warning: unknown }
>;

export const file = { pull } as const satisfies Source;

async function* pull(from: string): AsyncGenerator<FileItem> {
  const isStdin = from === "-";
  const name = isStdin ? "standard input" : from;
  yield {
    about: isStdin
      ? { date: isoSeconds(new Date()) }
      : { date: isoSeconds(fileDate(from)), ...readSidecar(from) },
  };
  const bytes = isStdin ? process.stdin : createReadStream(from);
  try {
    yield* readRecords(decodeUtf8(bytes), name);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(
      "source",
      `${name} cannot be read to its end: ${reason}. The places pulled before are kept.`,
      [],
      { cause: error },
    );
  }
}

function fileDate(path: string): Date {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UserError("source", `There is no file ${path}.`);
  if (stats.isDirectory())
    throw new UserError("source", `${path} is a folder; --from takes a CSV, JSON or GeoJSON file.`);
  return stats.mtime;
}

/** `places.csv` may have its title, attribution, license and date beside it in `places.about.json`. */
function readSidecar(path: string): Partial<Provenance> {
  const sidecar = `${path.replace(/\.[^./\\]+$/, "")}.about.json`;
  if (!existsSync(sidecar)) return {};
  let members: Record<string, unknown>;
  try {
    members = JSON.parse(readFileSync(sidecar, "utf8")) as Record<string, unknown>;
  } catch (error) {
    throw new UserError("source", `${sidecar} is not valid JSON.`, [], { cause: error });
  }
  const picked = pickProvenance(members);
  // Else the file's own date would stand in for it, and old data would look new.
  if (picked.date === undefined && saidDate(members) !== undefined)
    throw new UserError("source", `${sidecar}: ${oddDate(members)}, such as 2026-11-20.`);
  return picked;
}

function oddDate(members: Readonly<Record<string, unknown>>): string {
  return `the date ${JSON.stringify(saidDate(members)).slice(0, 100)} is not ISO 8601`;
}

/** UTF-8 only: text of another encoding would come out as other names. A byte order mark is dropped. */
async function* decodeUtf8(bytes: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new TextDecoderStream("utf-8", { fatal: true });
  const web = Readable.toWeb(Readable.from(bytes));
  yield* web.pipeThrough(decoder) as AsyncIterable<string>;
}

/** The first character that is no white space says what it is: `[` or `{` is JSON, anything else CSV. */
async function* readRecords(text: AsyncGenerator<string>, name: string): AsyncGenerator<FileItem> {
  let head = "";
  while (head.trim() === "") {
    const next = await text.next();
    if (next.done) throw new UserError("source", `${name} is empty.`);
    head += next.value;
  }
  const first = head.trimStart()[0] ?? "";
  const whole = prepend(head, text);
  if (first === "<")
    throw new UserError(
      "source",
      `${name} is HTML or XML (it begins with ${JSON.stringify(head.trim().slice(0, 40))}), not CSV, JSON or GeoJSON.`,
    );
  yield* first === "[" || first === "{" ? readJson(whole, name) : readCsv(whole, name);
}

async function* prepend(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}

async function* readCsv(text: AsyncIterable<string>, name: string): AsyncGenerator<FileItem> {
  let isOurs = false;
  const columns = (header: string[]): string[] => {
    refuseHeader(header, name);
    isOurs = header.includes("type_hebergement");
    return header;
  };
  const parser = Readable.from(text).compose(
    csvParser({ columns, bom: true, skip_empty_lines: true, trim: false }),
  );
  for await (const row of parser as AsyncIterable<Record<string, string>>)
    yield { record: isOurs ? unguardRow(row) : row };
}

function refuseHeader(header: readonly string[], name: string): void {
  if (!["name", "longitude", "latitude"].every((column) => header.includes(column)))
    throw new UserError(
      "source",
      `${name} is no CSV of places: its header must name at least id, name, longitude and latitude; it names ${header.slice(0, 12).join(", ").slice(0, 200)}.`,
    );
  const repeated = header.find((column, index) => column !== "" && header.indexOf(column) !== index);
  if (repeated !== undefined)
    throw new UserError(
      "source",
      `${name} has more than one column called ${JSON.stringify(repeated.slice(0, 100))}: which of them counts is not guessed.`,
    );
}

/** Our own CSV guards cells against formulas; the guard is taken off again. */
function unguardRow(row: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).map(([column, cell]) => [unguardCell(column), unguardCell(cell)]),
  );
}

/** The elements of a top-level array, or of `features` in a FeatureCollection, one at a time. */
async function* readJson(text: AsyncIterable<string>, name: string): AsyncGenerator<FileItem> {
  const members = new Map<string, unknown>();
  let key: string | null = null; // of the member of a top-level object; null in a top-level array
  let where: "outside" | "object" | "list" = "outside";
  let sawList = false;
  let value: Assembler | null = null; // the record or member that is being put together
  const tokens = Readable.from(text).compose(jsonParser.asStream({ streamValues: false }));
  for await (const token of tokens as AsyncIterable<Token>) {
    if (
      value === null &&
      token.name === "startArray" &&
      (where === "outside" || (where === "object" && key === "features"))
    ) {
      where = "list";
      sawList = true;
    } else if (value === null && token.name === "startObject" && where === "outside") {
      where = "object";
    } else if (value === null && token.name === "endArray") {
      where = "object";
    } else if (value === null && token.name === "keyValue") {
      key = token.value;
    } else if (value !== null || token.name !== "endObject") {
      value ??= new Assembler();
      value.consume(token);
      if (!value.done) continue;
      if (where === "list") yield { record: value.current };
      else members.set(key ?? "", value.current);
      if (key === "crs") refuseOtherDatum(members.get(key), name);
      value = null;
    }
  }
  if (!sawList) {
    throw new UserError(
      "source",
      `${name} holds neither a JSON array of places nor a GeoJSON FeatureCollection; it has the members ${[...members.keys()].slice(0, 10).join(", ")}.`,
    );
  }
  const said = Object.fromEntries(members);
  const about = pickProvenance(said);
  yield { about };
  if (about.date === undefined && saidDate(said) !== undefined)
    yield { warning: { text: `${name}: ${oddDate(said)} and was passed over; --date sets it`, ids: [] } };
}
