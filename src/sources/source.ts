/** What a source is: it fetches and pages, and interprets nothing. */

import type { Sighting } from "../parse.js";
import type { Provenance } from "../place.js";

/** Something that a person should know of; `ids` are the places it is about. */
export interface Warning {
  readonly text: string;
  readonly ids: readonly number[];
}

/** How to ask for an address again without getting the same answer twice (RFC 9110, section 13.1). */
export interface Validators {
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Where a release says that its data came from, and what pulling them was like. */
export interface Origin {
  /** The address without its query. */
  readonly source: string;
  /** ISO 8601, UTC, whole seconds. */
  readonly pulledAt: string;
  readonly pulled: {
    readonly read: number;
    readonly repaired: Readonly<Record<string, number>>;
    readonly refused: Readonly<Record<string, number>>;
  };
}

/** A step of an upstream's history, as its `changes/` lists it. */
export interface InheritedStep {
  readonly number: number;
  readonly content: string;
  readonly provenance: Provenance;
  readonly places: number;
  readonly upserts: readonly { readonly former: unknown; readonly feature: unknown }[];
  readonly removed: readonly { readonly id: number; readonly name: string }[];
}

/** One raw record for `parsePlace`, or something that the source says of itself or of the pull. */
export type SourceItem =
  | { readonly record: unknown; readonly sighting?: Sighting }
  | { readonly about: Partial<Provenance> }
  /** The data's date where the source names none: when they were asked for. */
  | { readonly clock: string }
  | { readonly warning: Warning }
  /** The source holds what it held at the last pull; nothing else comes. */
  | { readonly unchanged: true }
  /** What the next pull may ask with. */
  | { readonly validators: readonly Validators[] }
  /** The source is a release of this program: its origin and history are those of the data. */
  | { readonly inherited: { readonly origin: Origin | null; readonly steps: readonly InheritedStep[] } };

/** A request begins or has ended: for a person who waits. */
export interface RequestEvent {
  /** What is asked for: a region, a category, or everything. */
  readonly label: string;
  /** Its number, from 1, and how many are known of. */
  readonly number: number;
  readonly of: number;
  /** Records of this region or category so far; null while the answer is awaited. */
  readonly records: number | null;
  readonly region: string | null;
}

/** What a pull tells its source. */
export interface PullContext {
  /** Names to ask the service for; null = the known six; "auto" = what the data suggest. */
  readonly regions: readonly string[] | "auto" | null;
  /** Regions of the places that are there already. */
  readonly knownRegions: readonly string[];
  /** Where to keep what came until the pull ends. */
  readonly workFile: string;
  /** When the last pull ended, ISO 8601, UTC: what was kept before is done with. */
  readonly finished: string | null;
  /** Empty = ask without conditions. */
  readonly validators: readonly Validators[];
  /** Goes into the User-Agent. */
  readonly contact: string | null;
  readonly limits: Partial<NetworkLimits>;
  onRequest(event: RequestEvent): void;
  /** Something went wrong and is tried again. */
  onRetry(text: string): void;
}

export const networkDefaults = {
  attempts: 5, // for one request, the first one included
  pause: 1000, // ms before the second attempt, doubled each time, up to twice as much by chance
  longestPause: 60_000, // ms; a Retry-After beyond it ends the pull
  connect: 10_000, // ms until a connection stands
  stall: 30_000, // ms without a byte
  request: 120_000, // ms for one request, body included
  deadline: 1_800_000, // ms for the whole pull
  bytes: 128 * 1024 * 1024, // of one body, decoded
  redirects: 5,
} as const;

export type NetworkLimits = Record<keyof typeof networkDefaults, number>;

export interface Source {
  /** Streams what `from` holds; throws UserError `source` when it cannot be read to its end. */
  pull(from: string, context: PullContext): AsyncIterable<SourceItem>;
}
