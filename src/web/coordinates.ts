/** A WGS84 position in the three notations that maps, rescuers and devices ask for. */

/** Decimal degrees, five decimals (about a metre), latitude first as people say it. */
export function formatDegrees(lon: number, lat: number): string {
  return `${lat.toFixed(5)}, ${lon.toFixed(5)}`;
}

/** Degrees, minutes and seconds to a tenth: `42°37'06.5"N 1°38'19.6"E`. */
export function formatDms(lon: number, lat: number): string {
  return `${sexagesimal(lat, "N", "S")} ${sexagesimal(lon, "E", "W")}`;
}

function sexagesimal(degrees: number, positive: string, negative: string): string {
  const tenths = Math.round(Math.abs(degrees) * 36_000); // of a second: rounded once, so that 60" never shows
  const whole = Math.floor(tenths / 36_000);
  const minutes = Math.floor((tenths % 36_000) / 600);
  const seconds = ((tenths % 600) / 10).toFixed(1);
  return `${whole}°${String(minutes).padStart(2, "0")}'${seconds.padStart(4, "0")}"${degrees < 0 ? negative : positive}`;
}

export interface Utm {
  readonly zone: number;
  /** Latitude band, C to X. */
  readonly band: string;
  /** Metres. */
  readonly easting: number;
  readonly northing: number;
}

const WGS84 = { radius: 6_378_137, flattening: 1 / 298.257223563 } as const;
const SCALE = 0.9996;
const BANDS = "CDEFGHJKLMNPQRSTUVWXX";

/** UTM of a position (Krüger's series to the third order, a millimetre); null beyond 80° S and 84° N, where UTM ends. */
export function utmOf(lon: number, lat: number): Utm | null {
  if (lat < -80 || lat > 84) return null;
  const zone = zoneOf(lon, lat);
  const { x, y } = transverse(((lon - (zone * 6 - 183)) * Math.PI) / 180, (lat * Math.PI) / 180);
  return {
    zone,
    band: BANDS[Math.floor((lat + 80) / 8)] ?? "X",
    easting: 500_000 + x,
    northing: lat < 0 ? 10_000_000 + y : y,
  };
}

/** `31T 373412 4719651`: whole metres, as a map's grid is read. */
export function formatUtm(lon: number, lat: number): string | null {
  const utm = utmOf(lon, lat);
  return utm === null
    ? null
    : `${utm.zone}${utm.band} ${Math.round(utm.easting)} ${Math.round(utm.northing)}`;
}

/** Sixty zones of six degrees, but for south-west Norway and Svalbard. */
function zoneOf(lon: number, lat: number): number {
  if (lat >= 56 && lat < 64 && lon >= 3 && lon < 12) return 32;
  if (lat >= 72 && lon >= 0 && lon < 42) return [31, 33, 35, 37][Math.floor((lon + 3) / 12)] ?? 31;
  return Math.min(60, Math.floor((lon + 180) / 6) + 1);
}

function transverse(lon: number, lat: number): { readonly x: number; readonly y: number } {
  const { radius, flattening } = WGS84;
  const n = flattening / (2 - flattening);
  const a = (radius / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64);
  const alphas = [
    n / 2 - (2 / 3) * n ** 2 + (5 / 16) * n ** 3,
    (13 / 48) * n ** 2 - (3 / 5) * n ** 3,
    (61 / 240) * n ** 3,
  ];
  const e = (2 * Math.sqrt(n)) / (1 + n);
  const t = Math.sinh(Math.atanh(Math.sin(lat)) - e * Math.atanh(e * Math.sin(lat)));
  const xi = Math.atan2(t, Math.cos(lon));
  const eta = Math.atanh(Math.sin(lon) / Math.sqrt(1 + t * t));
  let [x, y] = [eta, xi];
  for (const [at, alpha] of alphas.entries()) {
    const k = 2 * (at + 1);
    x += alpha * Math.cos(k * xi) * Math.sinh(k * eta);
    y += alpha * Math.sin(k * xi) * Math.cosh(k * eta);
  }
  return { x: SCALE * a * x, y: SCALE * a * y };
}

/** Metres between two positions on a sphere: half a percent exact, enough to sort by. */
export function distance(
  a: { readonly lon: number; readonly lat: number },
  b: { readonly lon: number; readonly lat: number },
): number {
  const rad = Math.PI / 180;
  const h =
    Math.sin(((b.lat - a.lat) * rad) / 2) ** 2 +
    Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.sin(((b.lon - a.lon) * rad) / 2) ** 2;
  return 2 * 6_371_009 * Math.asin(Math.min(1, Math.sqrt(h)));
}
