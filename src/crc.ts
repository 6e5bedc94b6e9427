/** CRC-32 (RFC 1952, 8) of bytes that are put together, from those of their parts: no byte is read again. */

const POLYNOMIAL = 0xedb88320; // bits reversed: the lowest power of x is the highest bit
const ONE = 0x80000000; // the polynomial 1

/** The product of two polynomials over GF(2), modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = (factor & 1) !== 0 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}

const DIGITS = 5; // lengths below 256^5 bytes

// POWERS[256 d + n] = x^(8 n 256^d): what n 256^d zero bytes do to a check.
const POWERS = makePowers();

function makePowers(): Int32Array {
  const powers = new Int32Array(256 * DIGITS);
  let step = ONE >>> 8; // x^8: one byte
  for (let digit = 0; digit < DIGITS; digit++) {
    let power = ONE;
    for (let n = 0; n < 256; n++) {
      powers[256 * digit + n] = power;
      power = multiply(power, step);
    }
    step = power; // x^(8 256^(digit + 1))
  }
  return powers;
}

/** The check of a content after `length` zero bytes more, but for the inversions that CRC-32 adds: linear in `check`. */
function shiftCheck(check: number, length: number): number {
  let shifted = check | 0;
  for (let rest = length, digit = 0; rest > 0; rest = Math.floor(rest / 256), digit++) {
    const n = rest % 256;
    if (n !== 0) shifted = multiply(POWERS[256 * digit + n] as number, shifted);
  }
  return shifted;
}

/** The check of A followed by B, where B has `length` bytes. */
export function joinChecks(a: number, b: number, length: number): number {
  return (shiftCheck(a, length) ^ b) >>> 0;
}

/** The check of C followed by B, from those of A, of A followed by B, and of C; B has `length` bytes. */
export function joinTail(c: number, a: number, whole: number, length: number): number {
  return (shiftCheck(c ^ a, length) ^ whole) >>> 0;
}
