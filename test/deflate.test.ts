import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDeflater, type Deflater } from "../src/bytes/deflate.js";
import { formatNames, formats } from "../src/formats/index.js";
import { samplePlaces } from "./setup/places.js";

const LAST_BLOCK = Buffer.from([3, 0]);

function deflate(deflater: Deflater, text: Buffer, kept: number): Buffer {
  text.copy(deflater.room(text.length));
  return Buffer.from(deflater.deflate(text.length, kept));
}

/** The text of a piece: what any reader of the format makes of it. */
function inflate(piece: Buffer, dictionary: Buffer): Buffer {
  return inflateRawSync(Buffer.concat([piece, LAST_BLOCK]), dictionary.length > 0 ? { dictionary } : {});
}

// Few different bytes: matches of every length. Any bytes: none. Long runs: the longest.
const anyText = fc.oneof(
  fc.array(fc.constantFrom(97, 98, 206), { maxLength: 3000, size: "max" }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 3000, size: "max" }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.nat(255), fc.nat(70_000)).map(([byte, length]) => Buffer.alloc(length, byte)),
  fc.string({ unit: "grapheme", maxLength: 300, size: "max" }).map((text) => Buffer.from(text)),
);

test("a piece gives its text back with nothing but the dictionary that was kept of the text before", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, fc.nat(4000)), { minLength: 1, maxLength: 6 }), (texts) => {
      const deflater = createDeflater();
      let dictionary = Buffer.alloc(0);
      for (const [text, kept] of texts) {
        expect(inflate(deflate(deflater, text, kept), dictionary).equals(text)).toBe(true);
        dictionary = Buffer.from(text.subarray(Math.max(0, text.length - kept)));
      }
    }),
    { numRuns: 300 },
  );
});

test("pieces join to one stream", () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 2, maxLength: 8 }), (texts) => {
      const deflater = createDeflater();
      const stream = Buffer.concat([
        ...texts.map((text) => deflate(deflater, text, text.length)),
        LAST_BLOCK,
      ]);
      expect(inflateRawSync(stream).equals(Buffer.concat(texts))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("matches reach 32 KiB back and no further", () => {
  const word = Buffer.from("a word that stands nowhere else, 0123456789");
  const zeros = (length: number): Buffer => Buffer.alloc(length);
  for (const [gap, isShort] of [
    [32 * 1024 - word.length, true],
    [32 * 1024 - word.length + 1, false],
  ] as const) {
    const deflater = createDeflater();
    deflate(deflater, word, 0);
    const text = Buffer.concat([word, zeros(gap), word]);
    const piece = deflate(deflater, text, 0);
    expect(inflate(piece, Buffer.alloc(0)).equals(text)).toBe(true);
    const alone = deflate(createDeflater(), Buffer.concat([word, zeros(gap)]), 0).length;
    expect(piece.length - alone < word.length / 2, `a gap of ${gap}`).toBe(isShort);
  }
});

test.each(formatNames)(
  "places as %s take no more bytes than the system's encoder needs at its best",
  (name) => {
    const deflater = createDeflater();
    let own = 0;
    let theirs = 0;
    let dictionary = Buffer.alloc(0);
    for (const place of samplePlaces()) {
      const text = Buffer.from(formats[name].place(place));
      own += deflate(deflater, text, text.length).length;
      theirs += deflateRawSync(text, {
        level: 9,
        strategy: constants.Z_FIXED,
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(dictionary.length > 0 && { dictionary }),
      }).length;
      dictionary = text;
    }
    expect(own).toBeGreaterThan(1000);
    expect(own).toBeLessThanOrEqual(theirs);
  },
);
