/** How the shelters are drawn: a dot at every zoom, a symbol where there is room, a name from close by. */

import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from "maplibre-gl";
import { appearanceOf, byImportance, categoryNumbers, unknownCategory } from "../taxonomy.js";
import { palettes, type Theme } from "./palette.js";

/** The layers in which places are drawn and can be picked. */
export const PLACE_LAYERS = ["dots", "symbols-far", "symbols-near"] as const;
/** Drawn by the browser from its own fonts: no glyphs are asked for. */
export const FONT = ["sans-serif"];
const LABELS_FROM = 11; // zoom

const category: ExpressionSpecification = ["coalesce", ["get", "type_lieu"], 0];

interface PlaceOptions {
  readonly theme: Theme;
  readonly filter: FilterSpecification | null;
  readonly selected: number | null;
}

/** Layers over the source `places`, the ring around the one that is selected first. */
export function placeLayers({ theme, filter, selected }: PlaceOptions): LayerSpecification[] {
  const paper = palettes[theme];
  const places = { source: "places", "source-layer": "places", ...(filter !== null && { filter }) } as const;
  const colours = categoryNumbers.flatMap((number) => [number, appearanceOf(number).colour]);
  // Beds before ruins, where symbols are in each other's way.
  const ranks = byImportance.flatMap((number, rank) => (number === null ? [] : [number, rank]));
  const icon: ExpressionSpecification = ["concat", "symbol-", category];
  const order = ["match", category, ...pair(ranks), byImportance.length] as ExpressionSpecification;
  return [
    {
      id: "selected",
      type: "circle",
      source: "places",
      "source-layer": "places",
      filter: ["==", ["id"], selected ?? -1],
      paint: {
        "circle-radius": ["interpolate", ["linear"], ["zoom"], 5, 9, 11, 17],
        "circle-color": paper.ring,
        "circle-opacity": 0.28,
        "circle-stroke-color": paper.ring,
        "circle-stroke-width": 2,
      },
    },
    {
      // Every place has a dot at any zoom: a symbol that finds no room is thinned, the shelter is not hidden.
      id: "dots",
      type: "circle",
      ...places,
      maxzoom: LABELS_FROM,
      paint: {
        "circle-radius": ["interpolate", ["linear"], ["zoom"], 4, 2, 10, 4.5],
        "circle-color": [
          "match",
          category,
          ...pair(colours),
          unknownCategory.colour,
        ] as ExpressionSpecification,
        "circle-stroke-color": "#ffffff",
        "circle-stroke-width": 1,
      },
    },
    {
      id: "symbols-far",
      type: "symbol",
      ...places,
      minzoom: 6,
      maxzoom: LABELS_FROM,
      layout: {
        "icon-image": icon,
        "icon-size": ["interpolate", ["linear"], ["zoom"], 6, 0.6, 10, 0.9],
        "icon-padding": 1,
        "symbol-sort-key": order,
      },
    },
    {
      id: "symbols-near",
      type: "symbol",
      ...places,
      minzoom: LABELS_FROM,
      layout: {
        "icon-image": icon,
        "icon-size": 1.1,
        "icon-allow-overlap": true,
        "symbol-sort-key": order,
        "text-field": ["get", "name"],
        "text-font": FONT,
        "text-size": 13,
        "text-max-width": 9,
        "text-variable-anchor": ["left", "right", "top", "bottom"],
        "text-radial-offset": 1.5,
        "text-justify": "auto",
        "text-optional": true,
      },
      paint: { "text-color": paper.label, "text-halo-color": paper.halo, "text-halo-width": 1.8 },
    },
  ];
}

function pair(
  values: readonly (string | number)[],
): [string | number, string | number, ...(string | number)[]] {
  const [from = 0, to = 0, ...rest] = values;
  return [from, to, ...rest];
}
