/** An operator's own basemap: a PMTiles archive in the Protomaps layout, in a few quiet layers. */

import type { LayerSpecification } from "maplibre-gl";
import { Protocol } from "pmtiles";
import { palettes, type Theme } from "./mapstyle.js";

let registered = false;

/** Teaches the map to read `pmtiles://` addresses, by ranges. */
export function registerPmtiles(maplibre: typeof import("maplibre-gl")): void {
  if (registered) return;
  maplibre.addProtocol("pmtiles", new Protocol().tile);
  registered = true;
}

const tints = {
  light: { green: "#e3ead6", built: "#ebe6dd", road: "#ffffff", path: "#b9a68e", river: "#a9c8d6" },
  dark: { green: "#232e26", built: "#272d2e", road: "#3a4345", path: "#5d564c", river: "#1d3340" },
} as const;

/** Layers over the source `basemap`. */
export function basemapLayers(theme: Theme): LayerSpecification[] {
  const paper = palettes[theme];
  const tint = tints[theme];
  const source = "basemap";
  const label = {
    "text-font": ["sans-serif"],
    "text-field": ["get", "name"],
  } as LayerSpecification["layout"];
  return [
    { id: "water-ground", type: "background", paint: { "background-color": paper.water } },
    { id: "base-earth", type: "fill", source, "source-layer": "earth", paint: { "fill-color": paper.land } },
    {
      id: "base-green",
      type: "fill",
      source,
      "source-layer": "landuse",
      filter: [
        "in",
        ["get", "kind"],
        ["literal", ["forest", "wood", "park", "national_park", "nature_reserve"]],
      ],
      paint: { "fill-color": tint.green },
    },
    {
      id: "base-water",
      type: "fill",
      source,
      "source-layer": "water",
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "fill-color": paper.water },
    },
    {
      id: "base-rivers",
      type: "line",
      source,
      "source-layer": "water",
      filter: ["==", ["geometry-type"], "LineString"],
      paint: { "line-color": tint.river, "line-width": 1 },
    },
    {
      id: "base-paths",
      type: "line",
      source,
      "source-layer": "roads",
      minzoom: 11,
      filter: ["==", ["get", "kind"], "path"],
      paint: { "line-color": tint.path, "line-width": 0.8, "line-dasharray": [3, 2] },
    },
    {
      id: "base-roads",
      type: "line",
      source,
      "source-layer": "roads",
      filter: ["!=", ["get", "kind"], "path"],
      paint: { "line-color": tint.road, "line-width": ["interpolate", ["linear"], ["zoom"], 8, 0.6, 14, 3] },
    },
    {
      id: "base-borders",
      type: "line",
      source,
      "source-layer": "boundaries",
      paint: { "line-color": paper.border, "line-width": 1, "line-dasharray": [3, 2] },
    },
    {
      id: "base-names",
      type: "symbol",
      source,
      "source-layer": "places",
      layout: { ...label, "text-size": 12 },
      paint: { "text-color": paper.country, "text-halo-color": paper.land, "text-halo-width": 1.2 },
    } as LayerSpecification,
  ];
}
