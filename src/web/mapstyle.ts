/** How the map looks: a calm ground that leaves the eye to the shelters, by day and by night. */

import type { Feature } from "geojson";
import type {
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  StyleSpecification,
} from "maplibre-gl";
import type { Position } from "./model.js";
import { palettes, type Theme } from "./palette.js";
import { FONT, placeLayers } from "./placelayers.js";

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
