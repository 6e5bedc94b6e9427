/** Every check of `doctor`, in the order of its table. */

import { endpoint } from "./api.js";
import { cacheRules, validators } from "./caching.js";
import type { Check } from "./check.js";
import { anyOrigin, compressedNames, files, missing, safeLine } from "./content.js";
import { encodings, heads, ranges } from "./transfer.js";

export const checks: readonly Check[] = [
  files,
  missing,
  encodings,
  compressedNames,
  ranges,
  heads,
  validators,
  cacheRules,
  anyOrigin,
  endpoint,
  safeLine,
];
