/** What a source is: it fetches and pages, and interprets nothing. */

import type { Provenance } from "../place.js";

/** Either one raw record for `parsePlace`, or something that the source says of itself. */
export type SourceItem = { readonly record: unknown } | { readonly about: Partial<Provenance> };

export interface Source {
  /** Streams what `from` holds; throws UserError `source` when it cannot be read to its end. */
  pull(from: string): AsyncIterable<SourceItem>;
}
