/** Whole documents of a format, put together as build and server do. */

import type { About } from "../../src/formats/format.js";
import { type FormatName, formats } from "../../src/formats/index.js";
import type { Place } from "../../src/place.js";

/** prologue, places joined by the separator, epilogue. */
export function documentOf(name: FormatName, places: readonly Place[], about: About): string {
  const format = formats[name];
  const body = places.map((place) => format.place(place)).join(format.separator);
  return format.prologue(about) + body + format.epilogue(about);
}
