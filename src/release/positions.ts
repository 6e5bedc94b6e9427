/** Positions of bytes in a file, one for each place: 4 bytes each while the file is shorter than 4 GiB, 8 bytes beyond. */

export type Positions = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const MOST = 2 ** 32 - 1; // bytes

/** An array of `length` positions, all 0, that grows wider when one does not fit. */
export function createPositions(length: number) {
  let values: Positions = new Uint32Array(length);
  return {
    set: (index: number, position: number): void => {
      if (position > MOST && values instanceof Uint32Array) values = Float64Array.from(values);
      values[index] = position;
    },
    values: (): Positions => values,
  };
}

/** `length` positions from the bytes that they were stored as. */
export function readPositions(bytes: ArrayBuffer, length: number): Positions {
  return bytes.byteLength === length * Float64Array.BYTES_PER_ELEMENT
    ? new Float64Array(bytes)
    : new Uint32Array(bytes);
}
