/** A zip file (APPNOTE 6.3) written as its first entry grows: memory does not grow with the document. No dates: same input, same bytes. */

import { constants, crc32, deflateRawSync } from "node:zlib";

/** A small file that is stored as it is. */
export interface StoredFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Bytes in, bytes of the zip file out. */
export interface ZipWriter {
  write(document: Buffer): Buffer;
  /** What is left of the document, then the stored files and the directory. */
  end(): Buffer;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const STORED = 0;
const DEFLATED = 8;
const SIZES_FOLLOW = 0x0008; // sizes and checksum stand behind the data, in a data descriptor
const WINDOW = 32 * 1024; // how far back deflate looks (RFC 1951)

/** Opens a zip file whose first entry is the document that is written to it. */
export function openZip(name: string, files: readonly StoredFile[]): ZipWriter {
  let window = Buffer.alloc(0);
  let crc = 0;
  let size = 0;
  const head = localHeader({
    name,
    method: DEFLATED,
    flags: SIZES_FOLLOW,
    crc: 0,
    packed: 0,
    size: 0,
    offset: 0,
  });
  let length = 0;
  return {
    write: (document) => {
      // Chunks that end on a byte join to one stream; the bytes before are given as dictionary, so that nothing is lost by it.
      const packed = deflateRawSync(document, {
        level: 6,
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(window.length > 0 && { dictionary: window }),
      });
      window = Buffer.concat([window, document.subarray(-WINDOW)]).subarray(-WINDOW);
      crc = crc32(document, crc);
      size += document.length;
      const bytes = length === 0 ? Buffer.concat([head, packed]) : packed;
      length += bytes.length;
      return bytes;
    },
    end: () => {
      const last = Buffer.concat([length === 0 ? head : Buffer.alloc(0), LAST_BLOCK]);
      const packed = length + last.length - head.length;
      const document = { name, method: DEFLATED, flags: SIZES_FOLLOW, crc, packed, size, offset: 0 };
      const descriptor = numbers([4, 0x08074b50], [4, crc], [4, packed], [4, size]);
      return finishZip(document, length + last.length + descriptor.length, [last, descriptor], files);
    },
  };
}

const LAST_BLOCK = Buffer.from([3, 0]); // an empty block that is marked as the last one

function finishZip(document: Entry, start: number, parts: Buffer[], files: readonly StoredFile[]): Buffer {
  const entries = [document];
  let offset = start;
  for (const { name, bytes } of files) {
    const sizes = { crc: crc32(bytes), packed: bytes.length, size: bytes.length };
    const entry = { name, method: STORED, flags: 0, ...sizes, offset };
    const header = localHeader(entry);
    parts.push(header, bytes);
    offset += header.length + bytes.length;
    entries.push(entry);
  }
  const directory = Buffer.concat(entries.map(centralHeader));
  const end = numbers(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, directory.length],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...parts, directory, end]);
}

const VERSION = 20; // 2.0: deflate
const MIDNIGHT = 0;
const FIRST_DAY = 0x21; // 1 January 1980, the earliest date there is

function localHeader(entry: Entry): Buffer {
  return Buffer.concat([
    numbers([4, 0x04034b50], [2, VERSION], ...described(entry), [2, entry.name.length], [2, 0]),
    Buffer.from(entry.name, "ascii"),
  ]);
}

function centralHeader(entry: Entry): Buffer {
  return Buffer.concat([
    numbers(
      [4, 0x02014b50],
      [2, VERSION],
      [2, VERSION],
      ...described(entry),
      [2, entry.name.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, entry.offset],
    ),
    Buffer.from(entry.name, "ascii"),
  ]);
}

type Field = readonly [bytes: 2 | 4, value: number];

function described({ flags, method, crc, packed, size }: Entry): Field[] {
  return [
    [2, flags],
    [2, method],
    [2, MIDNIGHT],
    [2, FIRST_DAY],
    [4, crc],
    [4, packed],
    [4, size],
  ];
}

/** Little-endian numbers; throws where one does not fit, which is a document of 4 GiB or more. */
function numbers(...fields: readonly Field[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}
