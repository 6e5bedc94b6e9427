/** The drawn map: tiles, symbols, what is picked, and where it looks. MapLibre is loaded only here, and only when it can draw. */

import type { FilterSpecification, Map as MapLibre } from "maplibre-gl";
import type { BBox } from "../place.js";
import { symbolSvg } from "../symbols.js";
import { categoryNumbers } from "../taxonomy.js";
import { countryNames } from "./countries.js";
import { el } from "./dom.js";
import { type StyleOptions, styleOf } from "./mapstyle.js";
import { type Choice, matcher, type PageFacts, type PlaceEntry, type Position } from "./model.js";
import type { Theme } from "./palette.js";
import { PLACE_LAYERS } from "./placelayers.js";

export interface MapView {
  box(): BBox;
  /** Middle of what nothing covers. */
  center(): Position;
  show(choice: Choice): void;
  /** Marks a place; `andGo` moves the map until it stands where nothing covers it. */
  select(place: PlaceEntry | null, andGo: boolean, covered: DOMRect): void;
  setVisitor(position: Position | null): void;
  fit(box: BBox): void;
  go(to: Position, zoom: number): void;
  zoom(by: 1 | -1): void;
  setTopographic(layer: StyleOptions["topographic"]): void;
  setLanguage(language: string): Promise<void>;
}

export interface MapOptions {
  readonly facts: PageFacts;
  readonly places: readonly PlaceEntry[];
  readonly language: string;
  readonly label: string;
  readonly onMove: () => void;
  readonly onPick: (id: number) => void;
}

const SYMBOL_SIZE = 22; // CSS pixels
const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws the map into a container. */
export async function openMap(container: HTMLElement, options: MapOptions): Promise<MapView> {
  const [maplibre] = await Promise.all([import("maplibre-gl"), loadStyle("maplibre-gl.css")]);
  const { facts, places } = options;
  const base = new URL("./", document.baseURI).href;
  maplibre.setWorkerUrl(`${base}maplibre-gl-worker.mjs`);
  const symbols = await drawSymbols();
  let state: StyleOptions = {
    theme: themeNow(),
    base,
    maxZoom: facts.maxZoom,
    countries: await countryNames(base, options.language),
    topographic: null,
    basemap: facts.basemap === null ? null : await openBasemap(maplibre, base, facts.basemap.version),
    language: options.language,
    hasLand: false,
    filter: null,
    selected: null,
    visitor: null,
  };
  const map = new maplibre.Map({
    container,
    style: styleOf(state),
    bounds: corners(facts.bbox ?? facts.box),
    fitBoundsOptions: { padding: 36, maxZoom: 11 },
    maxBounds: corners(facts.box),
    maxZoom: 16,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    rollEnabled: false,
    locale: { "Map.Title": options.label },
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new maplibre.ScaleControl({ maxWidth: 90 }), "bottom-left");
  let isReady = false;
  let offset: [x: number, y: number] = [0, 0]; // of the middle of what the card leaves free
  const change = (changed: Partial<StyleOptions>): void => {
    state = { ...state, ...changed };
    if (isReady) map.setStyle(styleOf(state));
  };
  map.once("style.load", () => {
    for (const { name, image, ratio } of symbols) map.addImage(name, image, { pixelRatio: ratio });
    isReady = true;
    change({}); // whatever was asked for in between
  });
  dark.addEventListener("change", () => change({ theme: themeNow() }));
  map.on("sourcedata", ({ sourceId, isSourceLoaded }) => {
    if (sourceId === "ground" && isSourceLoaded && !state.hasLand) change({ hasLand: true });
  });
  map.on("moveend", options.onMove);
  pickOnClick(map, options.onPick);
  exposeForTests(map);
  const seconds = (wanted: number): number => (calm.matches ? 0 : wanted);
  return {
    box: () => boxOf(map),
    center: () => {
      const { lng, lat } = map.unproject([
        container.clientWidth / 2 + offset[0],
        container.clientHeight / 2 + offset[1],
      ]);
      return { lon: lng, lat };
    },
    show: (choice) => change({ filter: filterOf(choice, places) }),
    select: (place, andGo, covered) => {
      change({ selected: place?.id ?? null });
      offset = place === null ? [0, 0] : beside(covered, container.getBoundingClientRect());
      if (place === null || !andGo) return;
      map.easeTo({ center: place, offset, zoom: Math.max(map.getZoom(), 11), duration: seconds(600) });
    },
    setVisitor: (visitor) => change({ visitor }),
    fit: (box) => map.fitBounds(corners(box), { padding: 36, maxZoom: 11, duration: seconds(500) }),
    go: (to, zoom) => map.easeTo({ center: to, zoom, duration: seconds(600) }),
    zoom: (by) => map.easeTo({ zoom: map.getZoom() + by, duration: seconds(200) }),
    setTopographic: (topographic) => change({ topographic }),
    setLanguage: async (language) => change({ language, countries: await countryNames(base, language) }),
  };
}

/** How far from the map's middle the larger part lies that a card leaves free, in pixels. */
function beside(card: DOMRect, map: DOMRect): [x: number, y: number] {
  const width = Math.min(card.right, map.right) - Math.max(card.left, map.left);
  const height = Math.min(card.bottom, map.bottom) - Math.max(card.top, map.top);
  if (width <= 0 || height <= 0) return [0, 0];
  return width < map.width - 100 ? [(card.right - map.left) / 2, 0] : [0, -height / 2];
}

/** A style sheet that only the map needs; without it the map still draws. */
function loadStyle(href: string): Promise<void> {
  return new Promise((resolve) => {
    const link = el("link", {
      rel: "stylesheet",
      href,
      on: { load: () => resolve(), error: () => resolve() },
    });
    // Before the page's own, which has the last word.
    document.head.prepend(link);
  });
}

function themeNow(): Theme {
  return dark.matches ? "dark" : "light";
}

function corners({ west, south, east, north }: BBox): [number, number, number, number] {
  return [west, south, east, north];
}

function boxOf(map: MapLibre): BBox {
  const bounds = map.getBounds();
  return {
    west: Math.max(-180, bounds.getWest()),
    south: Math.max(-90, bounds.getSouth()),
    east: Math.min(180, bounds.getEast()),
    north: Math.min(90, bounds.getNorth()),
  };
}

/** Low zooms carry no region and no name in their tiles: what depends on them is filtered by id. */
function filterOf(choice: Choice, places: readonly PlaceEntry[]): FilterSpecification | null {
  const { categories, region, search } = choice;
  if (region === null && search.trim() === "") {
    if (categories.size === 0) return null;
    const numbers = [...categories].map((category) => category ?? 0);
    return ["in", ["coalesce", ["get", "type_lieu"], 0], ["literal", numbers]];
  }
  const ids = places.filter(matcher(choice)).map(({ id }) => id);
  return ids.length === 0 ? ["==", ["id"], -1] : ["match", ["id"], ids, true, false];
}

/** One picture per category, drawn at the screen's own resolution. */
function drawSymbols() {
  const ratio = Math.min(4, Math.max(2, Math.ceil(devicePixelRatio)));
  return Promise.all(
    [...categoryNumbers, null].map(async (category) => {
      const image = new Image(SYMBOL_SIZE * ratio, SYMBOL_SIZE * ratio);
      image.src = `data:image/svg+xml;utf8,${encodeURIComponent(symbolSvg(category, SYMBOL_SIZE * ratio))}`;
      await image.decode();
      return { name: `symbol-${category ?? 0}`, image, ratio };
    }),
  );
}

function pickOnClick(map: MapLibre, onPick: (id: number) => void): void {
  const near = 8; // CSS pixels around a finger
  const pick = ({ x, y }: { x: number; y: number }): number | null => {
    const layers = PLACE_LAYERS.filter((layer) => map.getLayer(layer) !== undefined);
    const box: [[number, number], [number, number]] = [
      [x - near, y - near],
      [x + near, y + near],
    ];
    const id = layers.length === 0 ? undefined : map.queryRenderedFeatures(box, { layers }).at(0)?.id;
    return typeof id === "number" ? id : null;
  };
  map.on("click", ({ point }) => {
    const id = pick(point);
    if (id !== null) onPick(id);
  });
  map.on("mousemove", ({ point }) => {
    map.getCanvas().style.cursor = pick(point) === null ? "" : "pointer";
  });
}

/** The operator's basemap, whose program is loaded only where there is one. */
async function openBasemap(
  maplibre: typeof import("maplibre-gl"),
  base: string,
  version: string,
): Promise<StyleOptions["basemap"]> {
  const { basemapLayers, readPmtiles } = await import("./basemap.js");
  return { address: readPmtiles(maplibre, `${base}basemap.pmtiles?v=${version}`), layers: basemapLayers };
}

/** The browser tests ask the drawn map what it draws. */
function exposeForTests(map: MapLibre): void {
  Object.defineProperty(document.querySelector("#map"), "maplibre", { value: map });
}
