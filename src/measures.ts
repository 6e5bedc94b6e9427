/** Altitudes and capacities as people write them: a number where there is one reading of it, else null. */

/** A number column as our own exports write it: the number, or unknown. */
function parseNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

const HIGHEST = 8849; // metres: Mount Everest
const LARGEST = 2000; // sleeping places: no hut on Earth has more

/**
 * Metres above sea level from a number column, to the millimetre; null for 0, which stands for "unknown", and for what is
 * no height on Earth. Without the rounding the smallest numbers would be written with an exponent.
 */
export function parseMetres(value: unknown): number | null {
  const exact = parseNumber(value);
  const metres = exact === null ? null : Math.round(exact * 1000) / 1000;
  return metres !== null && metres > 0 && metres <= HIGHEST ? metres : null;
}

/** Sleeping places from a number column; null for 0, which stands for "none or unknown". */
export function parseCount(value: unknown): number | null {
  const count = parseNumber(value);
  return count !== null && Number.isInteger(count) && count > 0 && count <= LARGEST ? count : null;
}

/**
 * Metres from free text, where it holds exactly one number: `2135`, `1640m`, `2 135`, `1.925`, `+/- 1150`. Null for
 * anything else, and for 0, which stands for "unknown".
 */
export function parseAltitude(text: string): number | null {
  const plain = text
    .toLowerCase()
    .replace(/\+\s*\/\s*-|±|~|\?|\benv(iron)?\b\.?|\balt(itude)?\b\.?|\bm([èe]tres?)?\b|(?<=\d)m\b/g, " ")
    .trim();
  const digits = /^\d{1,4}$/.test(plain)
    ? plain
    : /^(\d)[ .,\u00A0\u202F](\d{3})$/.exec(plain)?.slice(1).join("");
  const fraction = /^(\d{2,4})[.,](\d{1,2})$/.exec(plain)?.slice(1).join(".");
  return parseMetres(digits ?? fraction ?? null);
}

/**
 * Sleeping places from free text: `12`, `15 env`, and the upper end of a range, `4 a 5`, `2-3`, `2 3`. Null for anything
 * else, for an alternative (`0 ou 4`), and for 0, which stands for "none or unknown".
 */
export function parseCapacity(text: string): number | null {
  const plain = text
    .toLowerCase()
    .replace(/\?|~|\benv(iron)?\b\.?|\bplaces?\b|\bpers(onnes?)?\b\.?|\bmax(i|imum)?\b\.?/g, " ")
    .trim();
  const range = /^(\d{1,4})(?:\s*(?:-|–|à|a|\/)\s*|\s+)(\d{1,4})$/.exec(plain);
  if (range === null) return /^\d{1,4}$/.test(plain) ? parseCount(plain) : null;
  return Number(range[1]) < Number(range[2]) ? parseCount(range[2]) : null;
}

/** Sleeping places in winter: as `parseCapacity`; `idem` is as many as in summer. */
export function parseWinterCapacity(text: string, summer: number | null): number | null {
  return /^\s*idem\s*$/i.test(text) ? summer : parseCapacity(text);
}

/** What a record says of its height and size in words; its number columns, where it has any, come first. */
export interface NumberTexts {
  readonly altitude: string;
  readonly summer: string;
  readonly winter: string;
  /** Take no number from a text that is more than a number. */
  readonly plainOnly: boolean;
}

/** Altitude and capacities of a record: from its number columns, else from the text. `onReading` hears of each that is more than digits. */
export function readNumbers(
  fields: Readonly<Record<string, unknown>>,
  texts: NumberTexts,
  onReading: () => void,
) {
  const read = (text: string, parse: (text: string) => number | null): number | null => {
    const isPlain = /^\s*\d*\s*$/.test(text);
    if (!isPlain && texts.plainOnly) return null;
    const value = parse(text);
    if (!isPlain && value !== null) onReading();
    return value;
  };
  const column = (key: string, parse: (value: unknown) => number | null, otherwise: () => number | null) =>
    key in fields ? parse(fields[key]) : otherwise();
  const summerCapacity = column("capacity_summer", parseCount, () => read(texts.summer, parseCapacity));
  return {
    altitude: column("altitude_m", parseMetres, () => read(texts.altitude, parseAltitude)),
    summerCapacity,
    winterCapacity: column("capacity_winter", parseCount, () =>
      read(texts.winter, (text) => parseWinterCapacity(text, summerCapacity)),
    ),
  };
}
