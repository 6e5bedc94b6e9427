/** Looks for places that are probably wrong. It asks questions; it alters nothing and decides nothing. */

import type { Place } from "../place.js";
import { isInPyrenees } from "../position.js";

export interface Finding {
  readonly check: CheckName;
  readonly id: number;
  readonly name: string;
  readonly lon: number;
  readonly lat: number;
  /** What is odd, in words. */
  readonly what: string;
  /** The other place of a pair; null where there is none. */
  readonly other: number | null;
  /** Where to look: the place's own page, else a map. */
  readonly link: string;
}

export const checks = {
  duplicate: "places within 50 m of each other",
  position: "positions outside the Pyrenees or on 0/0",
  altitude: "altitudes that do not fit the neighbours'",
  datum: "two of one name as far apart as ED50 is from WGS84",
  encoding: "damaged encodings",
  cut: "names cut at an accent",
} as const;

export type CheckName = keyof typeof checks;

const limits = {
  duplicate: 50, // metres
  neighbour: 1000, // metres within which altitudes are compared
  slope: 1, // metres of height per metre of distance: steeper than any path
  slack: 200, // metres of height on top
  // ED50 read as WGS84 lies 93-100 m east and 118-122 m north of the truth in the Pyrenees (EPSG:1133).
  datumEast: 97,
  datumNorth: 120,
  datumSlack: 40,
  highest: 3404, // metres: Aneto
} as const;

const METRES_PER_DEGREE = 111_195;
const CELL = limits.neighbour / METRES_PER_DEGREE; // degrees of latitude

/** Every finding, check by check, in the order of the ids. */
export function audit(places: Iterable<Place>): Finding[] {
  const all = [...places].sort((a, b) => a.id - b.id);
  const near = neighbourhood(all);
  const whole = new Map(
    all
      .filter(({ commune }) => beforeAccent(commune) !== commune)
      .map(({ commune }) => [beforeAccent(commune), commune]),
  );
  return [
    ...all.flatMap((place) => pairs(place, near)),
    ...all.flatMap(checkPosition),
    ...all.flatMap((place) => checkAltitude(place, near(place))),
    ...all.flatMap(checkEncoding),
    ...all.flatMap((place) => checkCut(place, whole)),
  ].sort((a, b) => order.indexOf(a.check) - order.indexOf(b.check) || a.id - b.id);
}

const order = Object.keys(checks) as CheckName[];

interface Neighbour {
  readonly place: Place;
  /** Metres east and north of the place that asks, and in all. */
  readonly east: number;
  readonly north: number;
  readonly distance: number;
}

/** Places within `limits.neighbour` of one, by a grid of cells of that size. */
function neighbourhood(places: readonly Place[]): (place: Place) => Neighbour[] {
  const cells = new Map<string, Place[]>();
  const width = (lat: number): number => CELL / Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  const rowOf = (lat: number): number => Math.floor(lat / CELL);
  // A row's cells are as wide as at its own latitude, so that neighbours are in the cells around.
  const columnOf = (lon: number, row: number): number => Math.floor(lon / width(row * CELL));
  for (const place of places) {
    const row = rowOf(place.lat);
    const key = `${row}/${columnOf(place.lon, row)}`;
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, [place]);
    else cell.push(place);
  }
  return (from) => {
    const found: Neighbour[] = [];
    for (let row = rowOf(from.lat) - 1; row <= rowOf(from.lat) + 1; row++) {
      const middle = columnOf(from.lon, row);
      for (let column = middle - 1; column <= middle + 1; column++) {
        for (const place of cells.get(`${row}/${column}`) ?? []) {
          const neighbour = measure(from, place);
          if (place.id !== from.id && neighbour.distance <= limits.neighbour) found.push(neighbour);
        }
      }
    }
    return found;
  };
}

function measure(from: Place, place: Place): Neighbour {
  const north = (place.lat - from.lat) * METRES_PER_DEGREE;
  const east = (place.lon - from.lon) * METRES_PER_DEGREE * Math.cos((from.lat * Math.PI) / 180);
  return { place, east, north, distance: Math.hypot(east, north) };
}

/** Each pair once, at the smaller id. */
function pairs(place: Place, near: (place: Place) => Neighbour[]): Finding[] {
  return near(place)
    .filter((other) => other.place.id > place.id)
    .sort((a, b) => a.place.id - b.place.id)
    .flatMap((other) => {
      const named = `${other.place.id} ${other.place.name}`;
      if (other.distance <= limits.duplicate)
        return [finding("duplicate", place, `${Math.round(other.distance)} m from ${named}`, other.place.id)];
      if (isDatumShift(other) && isSameName(place.name, other.place.name))
        return [
          finding(
            "datum",
            place,
            `${Math.round(other.distance)} m from ${named}, in the direction of ED50`,
            other.place.id,
          ),
        ];
      return [];
    });
}

function isDatumShift({ east, north }: Neighbour): boolean {
  const fits = (sign: number): boolean =>
    Math.hypot(east - sign * limits.datumEast, north - sign * limits.datumNorth) <= limits.datumSlack;
  return fits(1) || fits(-1);
}

// What huts are called in general says nothing of which one it is.
const GENERIC = new Set(
  "refuge refugio refugi cabane cabana cabanya abri abric orri borda ruine de del d la le l el les los".split(
    " ",
  ),
);

function isSameName(one: string, other: string): boolean {
  const words = (name: string): string =>
    name
      .normalize("NFD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== "" && !GENERIC.has(word))
      .sort()
      .join(" ");
  return words(one) !== "" && words(one) === words(other);
}

function checkPosition(place: Place): Finding[] {
  const { lon, lat } = place;
  if (Math.abs(lon) < 0.001 && Math.abs(lat) < 0.001) return [finding("position", place, "on 0/0")];
  return isInPyrenees(lon, lat) ? [] : [finding("position", place, `outside the Pyrenees: ${lat}, ${lon}`)];
}

function checkAltitude(place: Place, near: readonly Neighbour[]): Finding[] {
  const { altitude } = place;
  if (altitude === null) return [];
  if (altitude > limits.highest) return [finding("altitude", place, `${altitude} m, above every summit`)];
  const known = near.filter((other) => other.place.altitude !== null);
  const odd = known.filter(
    ({ place: other, distance }) =>
      Math.abs((other.altitude ?? 0) - altitude) > distance * limits.slope + limits.slack,
  );
  // One of two is wrong; with more, the one that most disagree with.
  if (odd.length === 0 || odd.length * 2 < known.length) return [];
  const [first] = [...odd].sort((a, b) => a.distance - b.distance);
  if (first === undefined) return [];
  const what = `${altitude} m, but ${first.place.id} ${first.place.name}, ${Math.round(first.distance)} m away, is at ${first.place.altitude} m`;
  return [finding("altitude", place, what, first.place.id)];
}

// UTF-8 read as Latin-1 or Windows-1252; a replacement character; question marks where letters were.
const DAMAGED =
  /[\u00C3\u00C2][\u0080-\u00BF\u2018-\u2022\u2026\u20AC\u2122\u0152\u0153]|\u00E2\u20AC|\uFFFD|\?{3,}/;

function checkEncoding(place: Place): Finding[] {
  const { name, commune, description, comment } = place;
  for (const [field, text] of Object.entries({ name, commune, description, comment })) {
    const match = DAMAGED.exec(text);
    if (match === null) continue;
    const around = text.slice(Math.max(0, match.index - 15), match.index + 20).replace(/\s+/g, " ");
    return [finding("encoding", place, `${field}: ${around.toWellFormed()}`)];
  }
  return [];
}

/** "Sallent de G": one letter at the end, or the beginning of a longer commune up to its first accent. */
function checkCut(place: Place, whole: ReadonlyMap<string, string>): Finding[] {
  for (const [field, text] of [
    ["name", place.name],
    ["commune", place.commune],
  ] as const) {
    if (/\p{L}.*\s(?![IVX])\p{Lu}$/u.test(text)) return [finding("cut", place, `${field}: ${text}`)];
  }
  const longer = whole.get(place.commune);
  return longer === undefined || longer === place.commune || place.commune === ""
    ? []
    : [finding("cut", place, `commune: ${place.commune}, probably ${longer}`)];
}

/** What is left of a name that is cut at its first accent; the name where it has none. */
function beforeAccent(name: string): string {
  return /^[^\u0080-\uFFFF]*/.exec(name)?.[0] ?? "";
}

function finding(check: CheckName, place: Place, what: string, other: number | null = null): Finding {
  const { id, name, lon, lat, url } = place;
  const map = `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lon}#map=16/${lat}/${lon}`;
  return { check, id, name, lon, lat, what, other, link: /^https?:\/\//.test(url) ? url : map };
}
