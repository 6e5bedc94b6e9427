/** Name and version of the program, from package.json. */

import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// `#package` is named in package.json itself: it is found from the sources and from the compiled program alike.
const { name, version } = createRequire(import.meta.url)("#package") as { name: string; version: string };

export const program = { name, version, generator: `${name} ${version}` } as const;

/** The bundled data set: what `pull` reads when nothing else is named. */
export const bundledPlaces = join(
  dirname(createRequire(import.meta.url).resolve("#package")),
  "data",
  "places.csv",
);

/** The compiled program: what its threads run, and the page that it puts into a release. */
export const appFolder = join(dirname(createRequire(import.meta.url).resolve("#package")), "dist", "app");
