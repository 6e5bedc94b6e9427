/** The one gate for user-written text: whatever passes here can be carried by every format, XML 1.0 included. */

// What XML 1.0 section 2.2 forbids even as a character reference, and the C1 controls, which only ever come from damaged encodings.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this expression is about
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFFFE\uFFFF]/g;
// Explicit bidirectional controls (UAX 9): in a name they turn the text around it.
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/**
 * Text as every format can carry it: well-formed Unicode (a lone surrogate becomes U+FFFD), line ends as LF, no
 * leading byte order mark, none of the characters that XML 1.0 forbids. Idempotent.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(FORBIDDEN, "")
    .replace(/^\uFEFF+/, "");
}

/** A one-line label (name, region, commune): cleanText, no bidi controls, runs of white space as one space, trimmed, NFC. */
export function cleanLabel(text: string): string {
  return cleanText(text)
    .replace(BIDI_CONTROLS, "")
    .replace(/[\s\uFEFF]+/g, " ")
    .trim()
    .normalize("NFC");
}

/** Whether a label says anything to a reader: at least one letter or digit ("????" and blanks do not). */
export function isUsableLabel(label: string): boolean {
  return /[\p{L}\p{N}]/u.test(label);
}

/** A name for paths and file names: ASCII lower case, digits and single hyphens; "place" where nothing is left. */
export function slugify(text: string): string {
  const slug = text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "place" : slug;
}
