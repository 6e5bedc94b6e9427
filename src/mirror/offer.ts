/** What the origin offers: its manifest, asked for conditionally, and refused when it is older than ours, wrongly signed, or none. */

import { UserError } from "../errors.js";
import { type Manifest, parseManifest } from "../release/manifest.js";
import type { Cache } from "./cache.js";
import type { Meter } from "./meter.js";
import { type Origin, patiently } from "./origin.js";
import type { Run } from "./run.js";
import { isSignedBy, SIGNATURE } from "./sign.js";

export interface Offer {
  readonly manifest: Manifest;
  readonly bytes: Buffer;
  readonly signature: Buffer | null;
}

/** One conditional request when nothing changed. Throws UserError `source`, `refused`. */
export async function askOffer(
  run: Run,
  origin: Origin,
  cache: Cache,
  meter: Meter,
  localDate: string | null,
  isFresh: boolean,
): Promise<Offer> {
  const state = cache.state();
  const kept = cache.manifest();
  const known = isFresh || kept === null || state?.source !== run.source ? null : state.validator;
  const ask = <Result>(question: (move: (bytes: number) => void) => Promise<Result>): Promise<Result> =>
    patiently(question, run.limits, (reason) => run.onLine(`  ${reason}: trying again`), run.signal);
  await meter.request();
  let came = 0;
  const offered = await ask((move) =>
    origin.manifest(known, isFresh, (more) => {
      came += more;
      move(more);
    }),
  );
  if (offered !== null) await meter.request(); // its head was asked for first
  await meter.spend(came);
  const bytes = offered?.bytes ?? (kept as Buffer);
  const manifest = parseOffered(bytes, origin);
  refuseOlder(manifest, localDate, run);
  const askSignature = (): Promise<Buffer | null> => ask(() => origin.small(SIGNATURE));
  let signature = offered === null ? cache.signature() : await askSignature();
  if (run.publicKey !== undefined && !isSignedBy(run.publicKey, bytes, signature)) {
    if (offered === null) signature = await askSignature();
    if (!isSignedBy(run.publicKey, bytes, signature)) throw wronglySigned(origin, signature !== null);
  }
  cache.keepManifest(bytes, signature, {
    source: run.source,
    validator: offered?.validator ?? state?.validator ?? { etag: null, lastModified: null },
    rate: meter.rate() ?? state?.rate ?? null,
  });
  return { manifest, bytes, signature };
}

function parseOffered(bytes: Buffer, origin: Origin): Manifest {
  try {
    const manifest = parseManifest(bytes, `The manifest of ${origin.name}`);
    if (!Number.isNaN(Date.parse(manifest.date))) return manifest;
    throw new UserError("damaged", `The manifest of ${origin.name} has no date that can be read.`);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError("source", error.message, error.details, { cause: error });
  }
}

/** Never older by accident: a stick found in a drawer, a host restored from a backup. */
function refuseOlder(manifest: Manifest, localDate: string | null, { force = false, site }: Run): void {
  if (force || localDate === null || !(Date.parse(manifest.date) < Date.parse(localDate))) return;
  throw new UserError(
    "refused",
    `The source has data of ${manifest.date}; ${site} has newer ones, of ${localDate}. It stays as it is; --force takes the older ones.`,
  );
}

function wronglySigned(origin: Origin, hasSignature: boolean): UserError {
  return new UserError(
    "refused",
    hasSignature
      ? `The signature of ${origin.name} is not of this manifest by this key. If the release was exchanged just now, try again later; otherwise do not trust it.`
      : `${origin.name} is not signed (no ${SIGNATURE}), and --public-key was given.`,
  );
}
