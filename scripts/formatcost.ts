/** What each format and flavour of a release costs: sizes from its manifest, and the time to encode all of its places. */

import { extname } from "node:path";
import { GEOPACKAGE } from "../src/build/geopackage.js";
import type { Format } from "../src/formats/format.js";
import { fileFormatNames, fileFormats } from "../src/formats/index.js";
import type { Place } from "../src/place.js";
import { type ManifestFile, readManifest } from "../src/release/manifest.js";
import { openStore } from "../src/store/store.js";
import type { BuiltSize } from "./sizes.js";
import { shown, size, table } from "./table.js";

/** A row per format: its files, their bytes in each form, and seconds to encode every place once. */
export function formatTable({
  count,
  database,
  site,
}: Pick<BuiltSize, "count" | "database" | "site">): string {
  const { files } = readManifest(site).manifest;
  const places = readPlaces(database);
  const rows = fileFormatNames.map((name) => {
    const own = files.filter(
      ({ path }) => path.startsWith("exports/") && path.endsWith(`.${name}`) && isWhole(path, name),
    );
    return [`.${name}`, ...sizes(own), shown(secondsToEncode(fileFormats[name], places) * 1000)];
  });
  const geopackage = files.filter(({ path }) => path === GEOPACKAGE);
  const head = [
    `${shown(count)} places`,
    "files",
    "plain",
    "gzip",
    "brotli",
    `encoding ${shown(places.length)} once, ms`,
  ];
  return table(head, [...rows, [GEOPACKAGE, ...sizes(geopackage), "-"]]);
}

/** `all.simple.gpx` ends in `.gpx` too, but is none. */
function isWhole(path: string, name: string): boolean {
  const base = path.slice(0, -name.length - 1);
  return extname(base.slice(base.lastIndexOf("/"))) === "";
}

function sizes(files: readonly ManifestFile[]): string[] {
  const sum = (bytesOf: (file: ManifestFile) => number): number =>
    files.reduce((total, file) => total + bytesOf(file), 0);
  return [
    String(files.length),
    size(sum(({ bytes }) => bytes)),
    size(sum(({ codings }) => codings.gzip?.bytes ?? 0)),
    size(sum(({ codings }) => codings.br?.bytes ?? 0)),
  ];
}

const MOST = 5000; // places held at once: time is per place, and objects slow everything

function readPlaces(database: string): readonly Place[] {
  const store = openStore(database);
  try {
    const places: Place[] = [];
    for (const place of store.places()) {
      places.push(place);
      if (places.length === MOST) break;
    }
    return places;
  } finally {
    store.close();
  }
}

function secondsToEncode(format: Format, places: readonly Place[]): number {
  let bytes = 0;
  const once = (): void => {
    for (const place of places) bytes += Buffer.byteLength(format.place(place));
  };
  once(); // compiled by the engine
  const started = performance.now();
  once();
  return bytes === 0 ? 0 : (performance.now() - started) / 1000;
}
