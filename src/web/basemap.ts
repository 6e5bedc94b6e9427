/** An operator's own basemap: a PMTiles archive in the Protomaps layout (version 4 of its layers), in a few quiet layers. */

import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from "maplibre-gl";
import { FetchSource, PMTiles, Protocol, type Source } from "pmtiles";
import type { BasemapLayers } from "./mapstyle.js";
import { palettes, type Theme } from "./palette.js";
import { FONT } from "./placelayers.js";

/** Teaches the map to read an archive by ranges; gives the address under which the map knows it. */
export function readPmtiles(maplibre: typeof import("maplibre-gl"), address: string): string {
  const protocol = new Protocol();
  protocol.add(new PMTiles(remembering(new FetchSource(address))));
  maplibre.addProtocol("pmtiles", protocol.tile);
  return `pmtiles://${address}`;
}

/** What was read before a service worker was there to keep it is read once more when it comes. */
function remembering(source: Source): Source {
  const workers = "serviceWorker" in navigator ? navigator.serviceWorker : null;
  const early: (readonly [offset: number, length: number])[] = [];
  workers?.addEventListener("controllerchange", () => {
    for (const [offset, length] of early.splice(0)) source.getBytes(offset, length).catch(() => {});
  });
  return {
    getKey: () => source.getKey(),
    getBytes: (offset, length, signal, etag) => {
      if (workers?.controller === null) early.push([offset, length]);
      return source.getBytes(offset, length, signal, etag);
    },
  };
}

const tints = {
  light: {
    green: "#dfe8d3",
    rock: "#eae6df",
    ice: "#f4f9fb",
    built: "#e9e3da",
    road: "#ffffff",
    casing: "#d3c9b8",
    path: "#b39a7c",
    river: "#a5c5d4",
    name: "#5b564e",
  },
  dark: {
    green: "#22302a",
    rock: "#2b2f30",
    ice: "#37424a",
    built: "#2a2f30",
    road: "#3f494b",
    casing: "#161c1d",
    path: "#6b6257",
    river: "#1d3340",
    name: "#a9b3ae",
  },
} as const;

const KINDS = {
  green: ["forest", "wood", "grassland", "farmland", "scrub", "park", "national_park", "nature_reserve"],
  rock: ["barren", "bare_rock", "scree", "sand"],
  ice: ["glacier"],
  built: ["urban_area", "residential", "industrial", "commercial"],
} as const;

/** Ground first, names last; a layer that the archive lacks draws nothing. */
export const basemapLayers: BasemapLayers = (theme, language) => [
  fill("base-earth", "earth", palettes[theme].land),
  ...areas("landcover", theme),
  ...areas("landuse", theme),
  fill("base-water", "water", palettes[theme].water, ["==", ["geometry-type"], "Polygon"]),
  ...lines(theme),
  ...names(theme, language),
];

const source = "basemap";

function fill(
  id: string,
  layer: string,
  colour: string,
  filter: FilterSpecification = ["all"],
): LayerSpecification {
  return { id, type: "fill", source, "source-layer": layer, filter, paint: { "fill-color": colour } };
}

function areas(layer: string, theme: Theme): LayerSpecification[] {
  return (["green", "rock", "ice", "built"] as const).map((tint) =>
    fill(`base-${layer}-${tint}`, layer, tints[theme][tint], [
      "in",
      ["get", "kind"],
      ["literal", [...KINDS[tint]]],
    ]),
  );
}

function lines(theme: Theme): LayerSpecification[] {
  const tint = tints[theme];
  const isPath: FilterSpecification = ["==", ["get", "kind"], "path"];
  const isRoad: FilterSpecification = ["!", ["in", ["get", "kind"], ["literal", ["path", "ferry"]]]];
  const wide = (least: number, most: number): ExpressionSpecification => {
    const isLarge: ExpressionSpecification = ["in", ["get", "kind"], ["literal", ["highway", "major_road"]]];
    const grown = (pixels: number): ExpressionSpecification => ["case", isLarge, pixels * 1.8, pixels];
    return ["interpolate", ["linear"], ["zoom"], 8, grown(least), 15, grown(most)];
  };
  const line = (
    id: string,
    layer: string,
    filter: FilterSpecification,
    paint: NonNullable<Extract<LayerSpecification, { type: "line" }>["paint"]>,
    minzoom = 0,
  ): LayerSpecification => ({
    id,
    type: "line",
    source,
    "source-layer": layer,
    filter,
    minzoom,
    layout: { "line-cap": "round", "line-join": "round" },
    paint,
  });
  return [
    line("base-rivers", "water", ["==", ["geometry-type"], "LineString"], {
      "line-color": tint.river,
      "line-width": ["interpolate", ["linear"], ["zoom"], 8, 0.6, 14, 2],
    }),
    line("base-paths", "roads", isPath, { "line-color": tint.path, "line-dasharray": [2, 2] }, 11),
    line("base-casings", "roads", isRoad, { "line-color": tint.casing, "line-width": wide(0.9, 6.5) }, 8),
    line("base-roads", "roads", isRoad, { "line-color": tint.road, "line-width": wide(0.5, 5) }),
    line("base-borders", "boundaries", ["==", ["get", "kind"], "country"], {
      "line-color": palettes[theme].border,
      "line-width": 1.4,
      "line-dasharray": [3, 2],
    }),
  ];
}

function names(theme: Theme, language: string): LayerSpecification[] {
  const label = (
    id: string,
    kinds: readonly string[],
    size: ExpressionSpecification | number,
    limits: { readonly minzoom?: number; readonly maxzoom?: number } = {},
  ): LayerSpecification => ({
    id,
    type: "symbol",
    source,
    "source-layer": "places",
    filter: ["in", ["get", "kind"], ["literal", [...kinds]]],
    ...limits,
    layout: {
      "text-font": FONT,
      "text-field": ["coalesce", ["get", `name:${language}`], ["get", "name"]],
      "text-size": size,
      "text-max-width": 8,
      "symbol-sort-key": ["-", 0, ["coalesce", ["get", "population_rank"], 0]],
    },
    paint: {
      "text-color": tints[theme].name,
      "text-halo-color": palettes[theme].land,
      "text-halo-width": 1.4,
    },
  });
  return [
    label("base-countries", ["country"], 15, { maxzoom: 8 }),
    label("base-towns", ["locality"], ["interpolate", ["linear"], ["zoom"], 6, 11, 13, 14], { minzoom: 6 }),
    label("base-quarters", ["neighbourhood", "macrohood"], 11, { minzoom: 12 }),
  ];
}
