/** Tables for the README, and numbers as people read them. */

/** A Markdown table; the first column is text, the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** 12345.678 as 12,346; 1.234 as 1.2. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const digits = Math.abs(value) < 10 ? 1 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Bytes as kB or MB. */
export function size(bytes: number): string {
  return bytes < 1e6 ? `${shown(bytes / 1e3)} kB` : `${shown(bytes / 1e6)} MB`;
}

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
