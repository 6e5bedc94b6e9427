import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanLabel, cleanText, isUsableLabel, slugify } from "../src/text.js";
import { anyText, hostileTexts } from "./setup/places.js";

/** What an XML 1.0 document can hold (section 2.2), without CR, which a reader would turn into LF. */
const XML_TEXT = /^[\t\n\u{20}-\u{7E}\u{A0}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;

describe("text", () => {
  test.each([
    ["CRLF and CR become LF", "a\r\nb\rc\n\rd", "a\nb\nc\n\nd"],
    ["NUL and other C0 controls go, tab stays", "a\u0000b\u001fc\td", "abc\td"],
    ["DEL and C1 controls go", "a\u007fb\u0085c\u009fd", "abcd"],
    ["noncharacters go", "a\ufffeb\uffffc", "abc"],
    ["a lone high surrogate is shown as damage", "a\ud83db", "a\ufffdb"],
    ["a lone low surrogate is shown as damage", "a\ude00", "a\ufffd"],
    ["a pair stays", "a😀b", "a😀b"],
    ["a byte order mark goes from the front", "\ufeff\ufeffa", "a"],
    ["a byte order mark behind a control is at the front, too", "\u0000\ufeff\u0001\ufeffa", "a"],
    ["a zero width no-break space inside stays", "a\ufeffb", "a\ufeffb"],
    ["edges and accents stay as they are", " e\u0301 ", " e\u0301 "],
    ["bidi controls stay in running text", "a\u202eb", "a\u202eb"],
  ])("%s", (_name, raw, clean) => {
    expect(cleanText(raw)).toBe(clean);
  });

  test("is text that XML 1.0 can carry, whatever came in, and cleaning twice changes nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = cleanText(text);
        expect(clean).toMatch(XML_TEXT);
        expect(cleanText(clean)).toBe(clean);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a label", () => {
  test.each([
    ["line breaks become a space", "a\r\n b\tc", "a b c"],
    ["edges go", "  a ", "a"],
    ["no-break spaces are spaces", "\u00a0a\u00a0\u202fb", "a b"],
    ["bidi controls go", "a\u202eb\u2066c\u200fd\u061c", "abcd"],
    ["it is composed", "E\u0301te\u0301", "Été"],
    ["a joined emoji stays whole", "👩‍👩‍👧", "👩‍👩‍👧"],
    ["nothing is left of nothing", " \u0000\ufeff\u202e ", ""],
  ])("%s", (_name, raw, clean) => {
    expect(cleanLabel(raw)).toBe(clean);
  });

  test("is one trimmed line, and cleaning twice changes nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const label = cleanLabel(text);
        expect(label).not.toMatch(/[\n\t\u2028\u2029]/);
        expect(label.trim()).toBe(label);
        expect(cleanLabel(label)).toBe(label);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["Orri", true],
    ["7", true],
    ["Ð", true],
    ["木", true],
    ["????", false],
    ["", false],
    ["- . -", false],
    ["🏚", false],
  ])("%j says something to a reader: %s", (label, isUsable) => {
    expect(isUsableLabel(label)).toBe(isUsable);
  });
});

describe("a path name", () => {
  test.each([
    ["Occitanie", "occitanie"],
    ["Nouvelle-Aquitaine", "nouvelle-aquitaine"],
    ["Pyrénées  d'Été", "pyrenees-d-ete"],
    ["../../etc/passwd", "etc-passwd"],
    ["CON", "con"],
    ["東京", "place"],
    ["", "place"],
  ])("of %j is %j", (text, slug) => {
    expect(slugify(text)).toBe(slug);
  });

  test("is never more than lower case letters, digits and single hyphens", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(slugify(text)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      }),
    );
    for (const text of Object.values(hostileTexts)) expect(slugify(text)).toMatch(/^[a-z0-9-]+$/);
  });
});
