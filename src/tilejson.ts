/** TileJSON 3.0 of a release's tiles. */

import type { BBox, Provenance } from "./place.js";
import { FULL_FIELDS_ZOOM, THINNING_RULE, TILE_LAYER } from "./tiles.js";

export const TILEJSON = "tiles.json";
/** Address of a tile below the release. */
export const TILE_TEMPLATE = "tiles/{z}/{x}/{y}.pbf";

export interface TileFacts extends Provenance {
  readonly generation: string;
  readonly bbox: BBox | null;
  readonly maxZoom: number;
  /** Zooms at which places were left out of a tile. */
  readonly thinnedZooms: readonly number[];
}

/** Edges of Web Mercator, in degrees: the world, where there is no place to bound it. */
const WORLD: BBox = { west: -180, south: -85.051129, east: 180, north: 85.051129 };

/** The document; its address of tiles is relative unless the release's own address is known. */
export function tileJson(facts: TileFacts, baseUrl: string | null) {
  const { west, south, east, north } = facts.bbox ?? WORLD;
  const isThinned = facts.thinnedZooms.length > 0;
  return {
    tilejson: "3.0.0",
    name: facts.title,
    description: `Data of ${facts.date}, generation ${facts.generation}.${isThinned ? ` Thinned at zoom ${facts.thinnedZooms.join(", ")}. ${THINNING_RULE}` : ""}`,
    attribution: facts.attribution,
    scheme: "xyz",
    tiles: [baseUrl === null ? TILE_TEMPLATE : `${baseUrl.replace(/\/+$/, "")}/${TILE_TEMPLATE}`],
    minzoom: 0,
    maxzoom: facts.maxZoom,
    bounds: [west, south, east, north],
    center: [(west + east) / 2, (south + north) / 2, Math.min(facts.maxZoom, fittingZoom(west, east))],
    vector_layers: vectorLayers(facts.maxZoom),
    thinned_zooms: facts.thinnedZooms,
  };
}

/** What a client may find in the tiles: their one layer, and its fields. */
export function vectorLayers(maxZoom: number) {
  return [
    {
      id: TILE_LAYER,
      description: `Shelters. Below zoom ${FULL_FIELDS_ZOOM} only id and type_lieu; unknown values are left out.`,
      minzoom: 0,
      maxzoom: maxZoom,
      fields: {
        id: "Number, stable identifier",
        type_lieu: "Number, category 1 to 7",
        name: "String",
        altitude_m: "Number, metres",
        capacity_summer: "Number, sleeping places in summer",
        region: "String",
      },
    },
  ];
}

/** The zoom at which a span of longitudes is about two tiles wide. */
function fittingZoom(west: number, east: number): number {
  return Math.max(0, Math.min(12, Math.floor(Math.log2(720 / Math.max(east - west, 0.01)))));
}
