/** NDJSON: the records of the JSON export, one a line and nothing around them, for tools that read line by line. */

import type { Format } from "./format.js";
import { json } from "./json.js";

export const ndjson: Format = {
  mediaType: "application/x-ndjson",
  prologue: () => "",
  place: (place) => `${json.place(place)}\n`,
  separator: "",
  epilogue: () => "",
};
