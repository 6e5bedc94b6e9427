/** What a format is: four pure members. The bytes of a document are those of its parts, wherever they are put together. */

import type { Packer } from "../append.js";
import type { BBox, Place, Provenance } from "../place.js";
import type { Category } from "../taxonomy.js";

/** What a document says of itself. */
export interface About extends Provenance {
  /** Program and version. */
  readonly generator: string;
  /** Identifies the data and the program that wrote the file. */
  readonly generation: string;
  /** Keys of the passed-through values that every place carries, in order. */
  readonly extraKeys: readonly string[];
  /** The selection that the document holds; null = all. */
  readonly region: string | null;
  readonly category: Category | null;
  /** Box around the places; null where it is not known or there are none. */
  readonly bbox: BBox | null;
}

/** A document is prologue, places joined by the separator, epilogue. All four are pure. */
export interface Format {
  readonly mediaType: string;
  prologue(about: About): string;
  place(place: Place): string;
  readonly separator: string;
  epilogue(about: About): string;
  /** Packs the document's bytes as they are written; absent where the document is the file. */
  pack?(about: About): Packer;
}
