/** Whole documents of a format, put together as build and server do. */

import type { About } from "../../src/formats/format.js";
import { type FileFormatName, fileFormats } from "../../src/formats/index.js";
import type { Place } from "../../src/place.js";

/** prologue, places joined by the separator, epilogue; of a packed format, what is packed. */
export function documentOf(name: FileFormatName, places: readonly Place[], about: About): string {
  const format = fileFormats[name];
  const body = places.map((place) => format.place(place)).join(format.separator);
  return format.prologue(about) + body + format.epilogue(about);
}
