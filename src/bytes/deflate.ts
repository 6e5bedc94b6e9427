/**
 * Raw deflate (RFC 1951) of short texts, each with the end of the text before it as dictionary. The system's encoder spends
 * most of its time on such a text with making and clearing its memory; this one keeps its own. Codes are the fixed ones:
 * tables of codes would be longer than what they save on half a kilobyte.
 */

const SHORTEST = 3; // bytes of a match (RFC 1951, 3.2.5)
const LONGEST = 258;
const REACH = 32 * 1024; // bytes that a match may lie back
const HASH_BITS = 11;
const MOST_TRIED = 128; // earlier places that are compared for one match
const NONE = -1;

/** Encodes a sequence of texts. */
export interface Deflater {
  /** Where the next text is to be written: at least `length` bytes. */
  room(length: number): Buffer;
  /**
   * The first `length` bytes of the room, compressed. The piece refers to nothing but itself and the dictionary, and ends on
   * a byte, so that pieces join to one stream. The last `kept` bytes of the text are the dictionary of the next one.
   * The result is good until the next call.
   */
  deflate(length: number, kept: number): Buffer;
}

/** An encoder whose first text has no dictionary. */
export function createDeflater(): Deflater {
  let window = Buffer.alloc(4096); // the dictionary, then the text
  let known = 0; // bytes of the dictionary
  let earlier = new Int32Array(window.length); // the place before with the same hash, by place
  const latest = new Int32Array(1 << HASH_BITS); // the last place of a hash
  const bits = createBits();

  const hashAt = (at: number): number => {
    const three = (byteAt(window, at) << 16) | (byteAt(window, at + 1) << 8) | byteAt(window, at + 2);
    return Math.imul(three, 0x9e3779b1) >>> (32 - HASH_BITS);
  };
  const insert = (at: number): void => {
    const hash = hashAt(at);
    earlier[at] = latest[hash] as number;
    latest[hash] = at;
  };
  /** The longest match at a place, among what was inserted: its length * 65536 + its distance; 0 where there is none. */
  const matchAt = (at: number, end: number): number => {
    const most = Math.min(LONGEST, end - at);
    let longest = SHORTEST - 1;
    let distance = 0;
    let candidate = latest[hashAt(at)] as number;
    for (let left = MOST_TRIED; candidate !== NONE && left > 0 && at - candidate <= REACH; left--) {
      if (window[candidate + longest] === window[at + longest]) {
        let length = 0;
        while (length < most && window[candidate + length] === window[at + length]) length++;
        if (length > longest) {
          longest = length;
          distance = at - candidate;
          if (length === most) break;
        }
      }
      candidate = earlier[candidate] as number;
    }
    return distance === 0 ? 0 : longest * 65536 + distance;
  };

  return {
    room: (length) => {
      if (known + length > window.length) {
        const larger = Buffer.alloc(2 * (known + length));
        window.copy(larger, 0, 0, known);
        window = larger;
        earlier = new Int32Array(larger.length);
      }
      return window.subarray(known);
    },
    deflate: (length, kept) => {
      const end = known + length;
      const hashed = end - SHORTEST + 1; // no match begins here or later
      latest.fill(NONE);
      for (let at = 0; at < Math.min(known, hashed); at++) insert(at);
      bits.begin(length);
      let next = known < hashed ? matchAt(known, end) : 0;
      for (let at = known; at < end; ) {
        const match = next;
        const isLast = at + 1 >= hashed;
        if (at < hashed) insert(at);
        next = isLast ? 0 : matchAt(at + 1, end);
        // A longer match one byte later is worth a literal.
        if (match === 0 || next >>> 16 > match >>> 16) {
          bits.literal(byteAt(window, at));
          at++;
          continue;
        }
        const after = at + (match >>> 16);
        bits.match(match >>> 16, match & 65535);
        for (at++; at < after; at++) if (at < hashed) insert(at);
        next = at < hashed ? matchAt(at, end) : 0;
      }
      known = Math.min(kept, length, REACH);
      window.copyWithin(0, end - known, end);
      return bits.end();
    },
  };
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

const END_OF_BLOCK = 256;
const FIXED_BLOCK = 0b010; // not the last one, fixed codes
const STORED_BLOCK = 0b000; // not the last one, bytes as they are
const OVERHEAD = 16; // bytes at most of what stands around the codes

/** `bits << 16 | code`, the code with its first bit lowest, as all other values of a stream have theirs (RFC 1951, 3.1.1). */
const symbols = Int32Array.from({ length: 288 }, (_, symbol) => {
  if (symbol < 144) return backwards(0x30 + symbol, 8);
  if (symbol < 256) return backwards(0x190 + symbol - 144, 9);
  return symbol < 280 ? backwards(symbol - 256, 7) : backwards(0xc0 + symbol - 280, 8);
});
const lengths = Int32Array.from({ length: LONGEST + 1 }, (_, length) => lengthCode(length));
const distances = Int32Array.from({ length: 30 }, (_, symbol) => backwards(symbol, 5));

function backwards(code: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit++) reversed |= ((code >> bit) & 1) << (bits - 1 - bit);
  return (bits << 16) | reversed;
}

/** The symbol of a length and the bits behind it (RFC 1951, 3.2.5). */
function lengthCode(length: number): number {
  if (length < SHORTEST) return 0;
  if (length === LONGEST) return symbols[285] as number;
  const value = length - SHORTEST;
  const extra = Math.max(0, 29 - Math.clz32(value));
  const code = symbols[257 + 4 * extra + (value >> extra)] as number;
  const bits = code >> 16;
  return ((bits + extra) << 16) | (code & 65535) | ((value & ((1 << extra) - 1)) << bits);
}

/** Bits, gathered to bytes, of one piece after the other. */
function createBits() {
  let bytes = Buffer.alloc(4096);
  let size = 0;
  let pending = 0;
  let count = 0; // of the bits that are pending
  const write = (value: number, bits: number): void => {
    pending |= value << count;
    count += bits;
    for (; count >= 8; count -= 8) {
      bytes[size++] = pending;
      pending >>>= 8;
    }
  };
  const writeCode = (code: number): void => write(code & 65535, code >> 16);
  return {
    /** Begins a piece of a text of `length` bytes. */
    begin: (length: number): void => {
      // No literal takes more than nine bits, no match more than its bytes would.
      const most = Math.ceil((length * 9) / 8) + OVERHEAD;
      if (most > bytes.length) bytes = Buffer.alloc(2 * most);
      size = 0;
      pending = 0;
      count = 0;
      write(FIXED_BLOCK, 3);
    },
    literal: (byte: number): void => writeCode(symbols[byte] as number),
    match: (length: number, distance: number): void => {
      writeCode(lengths[length] as number);
      const value = distance - 1;
      const extra = Math.max(0, 30 - Math.clz32(value));
      writeCode(distances[2 * extra + (value >> extra)] as number);
      write(value & ((1 << extra) - 1), extra);
    },
    /** The piece; an empty stored block brings it to the end of a byte. */
    end: (): Buffer => {
      writeCode(symbols[END_OF_BLOCK] as number);
      write(STORED_BLOCK, 3);
      if (count > 0) write(0, 8 - count);
      write(0x0000, 16);
      write(0xffff, 16);
      return bytes.subarray(0, size);
    },
  };
}
