/** How the map looks: a calm ground that leaves the eye to the shelters, by day and by night. */

import type { Feature } from "geojson";
import type {
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  StyleSpecification,
} from "maplibre-gl";
import { appearanceOf, type Category, categoryNumbers, unknownCategory } from "../taxonomy.js";
import type { Position } from "./model.js";

export type Theme = "light" | "dark";

export interface StyleOptions {
  readonly theme: Theme;
  /** Addresses must be absolute: the map's worker has another base. */
  readonly base: string;
  readonly maxZoom: number | null;
  /** Country names of the background in the visitor's language. */
  readonly countries: Readonly<Record<string, string>>;
  readonly topographic: { readonly address: string; readonly credit: string } | null;
  /** The operator's basemap, drawn over the background, which stays where it has nothing. */
  readonly basemap: { readonly address: string; readonly layers: BasemapLayers } | null;
  readonly language: string;
  /** Whether the land is there to be drawn: before that, all would look like sea. */
  readonly hasLand: boolean;
  readonly filter: FilterSpecification | null;
  readonly selected: number | null;
  readonly visitor: Position | null;
}

/** Layers over the source `basemap`. */
export type BasemapLayers = (theme: Theme, language: string) => LayerSpecification[];

export const palettes = {
  light: {
    water: "#c8dbe3",
    land: "#f5f2ea",
    coast: "#8ba7b3",
    border: "#a28f9f",
    country: "#8c8278",
    label: "#1f2a24",
    halo: "#fbfaf6",
    ring: "#14532d",
    visitor: "#1d5fd1",
  },
  dark: {
    water: "#10191f",
    land: "#20282a",
    coast: "#3c5260",
    border: "#6c5f70",
    country: "#7f8a86",
    label: "#eef3ef",
    halo: "#151b1c",
    ring: "#9fe0b8",
    visitor: "#6ea8ff",
  },
} as const;

/** The layers in which places are drawn and can be picked. */
export const PLACE_LAYERS = ["dots", "symbols-far", "symbols-near"] as const;
const FONT = ["sans-serif"];
const LABELS_FROM = 11; // zoom
/** What is drawn first where symbols are in each other's way: beds before ruins. */
const PRIORITY: readonly (Category | null)[] = [6, 5, 2, 3, 4, 1, 7];

const category: ExpressionSpecification = ["coalesce", ["get", "type_lieu"], 0];

/** The whole style, made anew for each change: the map applies what differs. */
export function styleOf(options: StyleOptions): StyleSpecification {
  const { base, maxZoom, topographic, basemap, theme, hasLand, visitor } = options;
  const paper = palettes[theme];
  return {
    version: 8,
    sources: {
      ground: { type: "geojson", data: `${base}background.json`, maxzoom: 10 },
      ...(basemap !== null && { basemap: { type: "vector", url: basemap.address } }),
      ...(topographic !== null && {
        topographic: {
          type: "raster",
          tiles: [topographic.address],
          tileSize: 256,
          maxzoom: 16,
          attribution: topographic.credit,
        },
      }),
      ...(visitor !== null && { visitor: { type: "geojson", data: pointAt(visitor) } }),
      ...(maxZoom !== null && {
        places: {
          type: "vector",
          tiles: [`${base}tiles/{z}/{x}/{y}.pbf`],
          minzoom: 0,
          maxzoom: maxZoom,
        },
      }),
    },
    layers: [
      { id: "water", type: "background", paint: { "background-color": hasLand ? paper.water : paper.land } },
      ...groundLayers(options),
      ...(basemap?.layers(theme, options.language) ?? []),
      ...(topographic === null
        ? []
        : [{ id: "topographic", type: "raster", source: "topographic" } satisfies LayerSpecification]),
      ...(maxZoom === null ? [] : placeLayers(options)),
      ...(visitor === null ? [] : [visitorLayer(theme)]),
    ],
  };
}

function pointAt({ lon, lat }: Position): Feature {
  return { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [lon, lat] } };
}

function visitorLayer(theme: Theme): LayerSpecification {
  const paint = { "circle-radius": 7, "circle-color": palettes[theme].visitor, "circle-stroke-width": 3 };
  return {
    id: "visitor",
    type: "circle",
    source: "visitor",
    paint: { ...paint, "circle-stroke-color": "#ffffff" },
  };
}

function groundLayers(options: StyleOptions): LayerSpecification[] {
  const paper = palettes[options.theme];
  const of = (kind: string): FilterSpecification => ["==", ["get", "kind"], kind];
  return [
    { id: "land", type: "fill", source: "ground", filter: of("land"), paint: { "fill-color": paper.land } },
    {
      id: "coast",
      type: "line",
      source: "ground",
      filter: of("coast"),
      paint: { "line-color": paper.coast, "line-width": 0.8 },
    },
    {
      id: "border",
      type: "line",
      source: "ground",
      filter: of("border"),
      layout: { "line-join": "round", "line-cap": "round" },
      paint: {
        "line-color": paper.border,
        "line-width": ["interpolate", ["linear"], ["zoom"], 4, 0.8, 9, 1.6],
        "line-dasharray": [3, 1.5, 0.5, 1.5],
        // The drawing is coarse: close up it would claim more than it knows.
        "line-opacity": ["interpolate", ["linear"], ["zoom"], 9, 0.9, 13, 0.35],
      },
    },
    ...(options.basemap === null ? [countryLayer(options, of("country"))] : []),
  ];
}

function countryLayer({ theme, countries }: StyleOptions, filter: FilterSpecification): LayerSpecification {
  const paper = palettes[theme];
  const names = Object.entries(countries).flat();
  return {
    id: "countries",
    type: "symbol",
    source: "ground",
    filter,
    maxzoom: 9,
    layout: {
      "text-field": names.length === 0 ? ["get", "name"] : nameMatch(names),
      "text-font": FONT,
      "text-size": ["interpolate", ["linear"], ["zoom"], 4, 12, 8, 17],
      "text-letter-spacing": 0.22,
      "text-transform": "uppercase",
      "symbol-sort-key": ["-", 0, ["get", "size"]],
    },
    paint: { "text-color": paper.country, "text-halo-color": paper.land, "text-halo-width": 1.5 },
  };
}

/** Country names by their name in the background. */
function nameMatch(names: readonly string[]): ExpressionSpecification {
  const [from = "", to = "", ...rest] = names;
  return ["match", ["get", "name"], from, to, ...rest, ["get", "name"]];
}

function placeLayers({ theme, filter, selected }: StyleOptions): LayerSpecification[] {
  const paper = palettes[theme];
  const places = { source: "places", "source-layer": "places", ...(filter !== null && { filter }) } as const;
  const colours = categoryNumbers.flatMap((number) => [number, appearanceOf(number).colour]);
  const ranks = PRIORITY.flatMap((number, rank) => [number ?? 0, rank]);
  const icon: ExpressionSpecification = ["concat", "symbol-", category];
  const order = ["match", category, ...pair(ranks), PRIORITY.length] as ExpressionSpecification;
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
