/** A made-up basemap in the Protomaps layout: every layer that a real one has, on a few tiles around the Pyrenees. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { type ArchivedTile, gzip, writePmtiles } from "../../src/map/pmtiles.js";

const MAX_ZOOM = 9;
const BOX = { west: -2.2, south: 41.8, east: 3.6, north: 43.8 };
const LAYERS = ["earth", "landcover", "landuse", "water", "roads", "boundaries", "places"];

/** Writes the archive; `layers` are the names that its metadata lists. Gives its path. */
export function writeBasemap(path: string, layers: readonly string[] = LAYERS): string {
  const tiles: ArchivedTile[] = [];
  for (let z = 0; z <= MAX_ZOOM; z++)
    for (let x = column(BOX.west, z); x <= column(BOX.east, z); x++)
      for (let y = row(BOX.north, z); y <= row(BOX.south, z); y++) {
        const file = join(`${path}.tiles`, `${z}-${x}-${y}`);
        const bytes = gzip(tileOf(z, x, y));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, bytes);
        tiles.push({ z, x, y, path: file, bytes: bytes.length });
      }
  writePmtiles(path, tiles, {
    bbox: BOX,
    center: [0.7, 42.7, 7],
    maxZoom: MAX_ZOOM,
    metadata: {
      name: "Made-up basemap",
      attribution: '<a href="https://example.org">Made-up</a> &copy; Made-up contributors',
      vector_layers: layers.map((id) => ({ id, fields: { kind: "String" } })),
    },
  });
  return path;
}

function column(lon: number, z: number): number {
  return Math.floor(((lon + 180) / 360) * 2 ** z);
}

function row(lat: number, z: number): number {
  const sine = Math.sin((lat * Math.PI) / 180);
  return Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * 2 ** z);
}

type Point = [x: number, y: number];
const square = (left: number, top: number, right: number, bottom: number): Point[][] => [
  [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
    [left, top],
  ],
];

/** The same picture on every tile: a wood, a lake with a river, two roads and a path, a border, a town. */
function tileOf(z: number, x: number, y: number): Uint8Array {
  const area = (kind: string, geometry: Point[][]) => ({ type: 3 as const, geometry, tags: { kind } });
  const line = (kind: string, ...geometry: Point[]) => ({
    type: 2 as const,
    geometry: [geometry],
    tags: { kind },
  });
  const name = `Vila ${z}/${x}/${y}`;
  const town = {
    type: 1 as const,
    geometry: [[2900, 1200]] as Point[],
    tags: { kind: "locality", name, "name:fr": `Ville ${z}/${x}/${y}` },
  };
  const layers = {
    earth: [area("earth", square(-64, -64, 4160, 4160))],
    landcover: [
      area("forest", square(200, 200, 1700, 1500)),
      area("glacier", square(3300, 1300, 3900, 1700)),
    ],
    landuse: [area("national_park", square(2000, 2600, 3900, 3900))],
    water: [area("lake", square(600, 2400, 1400, 3100)), line("river", [1400, 2700], [4096, 2000])],
    roads: [
      line("highway", [0, 1800], [4096, 1600]),
      line("minor_road", [2048, 0], [2300, 4096]),
      line("path", [300, 300], [1600, 3900]),
    ],
    boundaries: [line("country", [0, 2200], [4096, 2300])],
    places: [town],
  };
  return fromGeojsonVt(
    Object.fromEntries(Object.entries(layers).map(([layer, features]) => [layer, { features }])),
    { version: 2, extent: 4096 },
  );
}
