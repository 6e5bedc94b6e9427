/** Made-up places that look like those of the Pyrenees: the same seed gives the same bytes, and memory does not grow with the count. */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

export interface SyntheticOptions {
  readonly count: number;
  readonly seed?: number;
}

const REGIONS = ["Navarre", "Nouvelle-Aquitaine", "Aragon", "Occitanie", "Catalonia", "Andorre"] as const;
// Shares of 1,620 real places by category, 1 to 7.
const CATEGORY_SHARES = [0.16, 0.34, 0.14, 0.1, 0.07, 0.05, 0.14] as const;
const WORDS = {
  kind: [
    "Cabane",
    "Cabane fermée",
    "Refuge",
    "Abri",
    "Orri",
    "Refugi",
    "Cabana",
    "Borda",
    "Ruine",
    "Cayolar",
  ],
  link: ["de", "du", "de la", "d'en", "des", "del"],
  start: ["Ar", "Bar", "Cam", "Es", "Gav", "Lar", "Mont", "Ori", "Pla", "Rou", "Sal", "Tuc", "Val", "Vign"],
  middle: ["a", "an", "ba", "bou", "da", "e", "ga", "la", "mar", "ne", "rou", "ti", "u"],
  end: ["dets", "èu", "gues", "lats", "male", "nère", "onts", "queira", "rret", "ssens", "t", "zun"],
  note: [
    "abri sous roche",
    "bois a prevoir",
    "source a cinq minutes",
    "toit refait a neuf",
    "cle a la mairie",
    "quatre bat flanc et une cheminee",
    "souvent occupee en juillet et en aout",
    "orri en bon etat au bord du ruisseau",
  ],
  comment: [
    "Nuit au calme, merci !",
    "Propre, 3 matelas.",
    "Porte cassée en février",
    "Vu 2 isards & un gypaète",
  ],
} as const;

const DEFAULT_SEED = 20_261_120;

/** Rows of `header`, one for one, in no useful order, ids from 1. About 510 bytes of GeoJSON each. */
export function* syntheticRows({
  count,
  seed = DEFAULT_SEED,
}: SyntheticOptions): Generator<readonly string[]> {
  const random = randomNumbers(seed);
  const massifs = Array.from({ length: 60 }, () => ({
    lon: -1.7 + random() * 4.8,
    off: (random() - 0.5) * 0.5,
    wide: 0.03 + random() * 0.12,
  }));
  for (let id = 1; id <= count; id++) yield row(id, random, massifs);
}

/** Names of the columns. */
export const header =
  "id,name,longitude,latitude,type_lieu,region,commune,altitude,cap_ete,cap_hiver,url,descriptif,commentaire,photo".split(
    ",",
  );

interface Massif {
  readonly lon: number;
  readonly off: number;
  readonly wide: number;
}

function row(id: number, random: () => number, massifs: readonly Massif[]): readonly string[] {
  const massif = pick(massifs, random);
  const bell = (): number => random() + random() + random() - 1.5;
  const lon = massif.lon + bell() * massif.wide;
  // The main ridge falls from 43.2 degrees north at the Atlantic to 42.4 at the Mediterranean.
  const lat = 42.95 - (lon + 1.7) * 0.13 + massif.off * 0.6 + bell() * massif.wide * 0.7;
  const metres = Math.round(1700 + bell() * 700);
  const category = pickCategory(random);
  const beds =
    category === 5 || category === 6 ? 20 + Math.floor(random() * 80) : 2 + Math.floor(random() * 12);
  const altitude = random() < 0.05 ? `${metres}m` : random() < 0.03 ? "" : String(metres);
  return [
    String(id),
    `${pick(WORDS.kind, random)} ${pick(WORDS.link, random)} ${toponym(random)}`,
    lon.toFixed(5),
    lat.toFixed(5),
    String(category),
    regionOf(lon, lat),
    toponym(random),
    altitude,
    category === 7 ? "" : random() < 0.1 ? `${beds} a ${beds + 2}` : String(beds),
    category === 7 ? "" : random() < 0.3 ? "idem" : String(Math.ceil(beds / 3)),
    `https://huts.example.org/fr/affiche.php?numenr=${id}`,
    random() < 0.4 ? pick(WORDS.note, random) : "",
    random() < 0.15 ? pick(WORDS.comment, random) : "",
    random() < 0.3 ? `photo_${id}_${Math.floor(random() * 9)}.jpg` : "",
  ];
}

function regionOf(lon: number, lat: number): string {
  if (lon > 1.4 && lon < 1.8 && lat > 42.43 && lat < 42.66) return REGIONS[5];
  const isNorth = lat > 42.95 - (lon + 1.7) * 0.13;
  if (isNorth) return lon < -0.3 ? REGIONS[1] : REGIONS[3];
  return lon < -0.7 ? REGIONS[0] : lon < 0.75 ? REGIONS[2] : REGIONS[4];
}

function pickCategory(random: () => number): number {
  let left = random();
  for (const [index, share] of CATEGORY_SHARES.entries()) {
    left -= share;
    if (left < 0) return index + 1;
  }
  return 2;
}

function toponym(random: () => number): string {
  const middle = random() < 0.6 ? pick(WORDS.middle, random) : "";
  return pick(WORDS.start, random) + middle + pick(WORDS.end, random);
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Numbers from 0 to 1, 1 not included: the 32-bit generator known as mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes the places as CSV or as one JSON object a line. */
export async function writeSynthetic(
  path: string,
  options: SyntheticOptions,
  format: "csv" | "ndjson" = "csv",
): Promise<void> {
  const out = createWriteStream(path);
  let chunk = format === "csv" ? `${header.join(",")}\n` : "";
  const flush = async (): Promise<void> => {
    if (!out.write(chunk)) await once(out, "drain");
    chunk = "";
  };
  for (const cells of syntheticRows(options)) {
    chunk += format === "csv" ? csvLine(cells) : jsonLine(cells);
    if (chunk.length > 64 * 1024) await flush();
  }
  await flush();
  out.end();
  await finished(out);
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\n`;
}

function jsonLine(cells: readonly string[]): string {
  return `${JSON.stringify(Object.fromEntries(header.map((name, index) => [name, cells[index]])))}\n`;
}
