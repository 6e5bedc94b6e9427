/** The compressed forms that stand beside every file of a release: `.gz` and `.br`. Same input, same bytes. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { availableParallelism } from "node:os";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";

/** Content codings by name, with the file extension that each adds. */
export const codings = { gzip: ".gz", br: ".br" } as const;
export type Coding = keyof typeof codings;
export const codingNames = Object.keys(codings) as Coding[];

/** Size and SHA-256 (hex) of one form of a file. */
export interface FileForm {
  readonly bytes: number;
  readonly sha256: string;
}

// Brotli 11 gives 10 % less than 9 at a thirtieth of its speed: right for small files, too slow for large ones. With 100 kB
// instead of 300 a build of 5,000 places takes two thirds of the time, and the brotli files are 2 % larger together.
const BROTLI_BEST_BELOW = 100_000; // bytes
// Gzip 9 gives 3 % less than 6 in twice the time.
const GZIP_BEST_BELOW = 4_000_000; // bytes

/** A file to compress, and the compressed forms it is to have: all where nothing is said. */
export interface Compressible extends FileForm {
  readonly path: string;
  readonly wanted?: readonly Coding[];
}

export interface CompressOptions {
  /** Default: all. */
  readonly codings?: readonly Coding[];
  /** Puts a form that is known already at a path, or gives null. */
  readonly reuse?: (sha256: string, coding: Coding, target: string) => Promise<FileForm | null>;
}

/** Writes the compressed forms of each file beside it, as many at a time as there are processors. */
export async function compressFiles(
  files: readonly Compressible[],
  onProgress: (done: number, of: number) => void,
  { codings: enabled = codingNames, reuse = async () => null }: CompressOptions = {},
): Promise<Readonly<Partial<Record<Coding, FileForm>>>[]> {
  const forms: Partial<Record<Coding, FileForm>>[] = files.map(() => ({}));
  // The largest first, so that no processor is left alone with a large one at the end.
  const jobs = files
    .flatMap((file, index) =>
      (file.wanted ?? codingNames)
        .filter((coding) => enabled.includes(coding))
        .map((coding) => ({ ...file, index, coding })),
    )
    .sort((a, b) => b.bytes - a.bytes);
  let next = 0;
  const work = async (): Promise<void> => {
    try {
      for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
        (forms[job.index] as Partial<Record<Coding, FileForm>>)[job.coding] =
          (await reuse(job.sha256, job.coding, job.path + codings[job.coding])) ??
          (await compressFile(job.path, job.bytes, job.coding));
        onProgress(next, jobs.length);
      }
    } catch (error) {
      next = jobs.length;
      throw error;
    }
  };
  const workers = Array.from({ length: availableParallelism() }, work);
  // After a failure the caller removes the folder: nobody may be writing into it any more.
  await Promise.allSettled(workers);
  await Promise.all(workers);
  // Which coding of a file is ready first is chance; the manifest must not show it.
  return forms.map((form) =>
    Object.fromEntries(
      codingNames.flatMap((coding) => (form[coding] === undefined ? [] : [[coding, form[coding]]])),
    ),
  );
}

/** Writes one compressed form of a file beside it. */
export async function compressFile(path: string, bytes: number, coding: Coding): Promise<FileForm> {
  const hash = createHash("sha256");
  let written = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // Byte 9 of a gzip header names the operating system (RFC 1952): set to "unknown", so that every system writes the same.
      if (coding === "gzip" && written < 10 && written + chunk.length > 9) chunk[9 - written] = 255;
      written += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(
    createReadStream(path),
    coding === "gzip" ? createGzip({ level: bytes < GZIP_BEST_BELOW ? 9 : 6 }) : brotli(bytes),
    measure,
    createWriteStream(path + codings[coding]),
  );
  return { bytes: written, sha256: hash.digest("hex") };
}

function brotli(bytes: number) {
  const isSmall = bytes < BROTLI_BEST_BELOW;
  return createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: isSmall ? 11 : 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      // A window no larger than the file: the encoder's memory is cleared for every file.
      [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(16, Math.ceil(Math.log2(bytes + 1)))),
    },
  });
}
