/** An operator's own basemap: a PMTiles archive of vector tiles in the Protomaps layout, told from whatever else a file may be. */

import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { UserError } from "../errors.js";

/** Layers of the Protomaps layout; an archive with none of them would draw nothing. */
const LAYERS = ["earth", "water", "landcover", "landuse", "roads", "boundaries", "places"];
const HEADER_BYTES = 127;
const MVT = 1;
const unpack: Readonly<Record<number, (packed: Buffer) => Buffer>> = {
  1: (plain) => plain,
  2: (packed) => gunzipSync(packed),
  3: (packed) => brotliDecompressSync(packed),
};

interface Metadata {
  readonly name?: unknown;
  readonly attribution?: unknown;
  readonly vector_layers?: readonly { readonly id?: unknown }[];
}

/** Whom the basemap names as its makers, as HTML; empty where it names nobody. Throws UserError `usage`. */
export function attributionOf(path: string): string {
  const refuse = (why: string): never => {
    throw new UserError("usage", `--basemap ${path} ${why}`);
  };
  const { header, metadata } = readArchive(path) ?? refuse("is no PMTiles archive of version 3.");
  const layers = (metadata.vector_layers ?? []).map(({ id }) => id);
  if (header.readUInt8(99) !== MVT || !LAYERS.some((layer) => layers.includes(layer)))
    refuse(`has none of the vector layers of the Protomaps layout (${LAYERS.join(", ")}).`);
  return typeof metadata.attribution === "string" ? metadata.attribution : "";
}

/** PMTiles version 3: the place of the metadata stands in bytes 24 to 39, its compression in byte 97. */
function readArchive(path: string): { readonly header: Buffer; readonly metadata: Metadata } | null {
  if (!existsSync(path)) return null;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    if (header.toString("latin1", 0, 8) !== "PMTiles\u0003") return null;
    const packed = Buffer.alloc(Number(header.readBigUInt64LE(32)));
    readSync(file, packed, 0, packed.length, Number(header.readBigUInt64LE(24)));
    const text = unpack[header.readUInt8(97)]?.(packed).toString("utf8") ?? "{}";
    return { header, metadata: JSON.parse(text) as Metadata };
  } catch {
    return null; // cut short, or packed otherwise than it says
  } finally {
    closeSync(file);
  }
}
