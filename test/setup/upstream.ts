/**
 * A service that answers as UPSTREAM knows it: one ASCII line of PHP's JSON, ten keys, the commune in `region`, names cut
 * at accents, the comment of the record before where a place has none, an order nobody is told. Its places are made up.
 * Faults are scripted: a queue of answers that go before the right one.
 */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";

export const REGIONS = ["Andorre", "Occitanie", "Nouvelle-Aquitaine", "Aragon", "Catalonia", "Navarre"];

const SLUGS = [
  "",
  "cabane fermee",
  "cabane ouverte",
  "cabane ouverte mais ocupee par le berger l ete",
  "orri toue abri en pierre",
  "refuge garde l ete partie hivernal",
  "refuge garde toute l annee",
  "ruine",
];

/** What is true of a place, whatever the service makes of it. */
export interface TruePlace {
  readonly id: number;
  readonly name: string;
  readonly lon: number;
  readonly lat: number;
  readonly category: number;
  /** As sent in `type_hebergement`; differs from the category's for a few. */
  readonly slug: string;
  readonly regions: readonly string[];
  readonly commune: string;
  /** As stored there, entities and all; empty = none. */
  readonly comment: string;
  readonly altitude: string | null;
  readonly summer: string;
  readonly winter: string;
  readonly photo: string;
}

/** The same made-up places for the same count: a few in no region, in two, without a slug, with another one. */
export function madeUpPlaces(count: number): TruePlace[] {
  return Array.from({ length: count }, (_, index) => madeUpPlace(index + 1));
}

function madeUpPlace(id: number): TruePlace {
  const dice = createHash("sha256").update(`place ${id}`).digest();
  const roll = (byte: number, sides: number): number => (dice[byte] ?? 0) % sides;
  const category = 1 + roll(0, 7);
  const home = REGIONS[id % 20 === 0 ? 5 : roll(1, 5)] as string;
  const regions =
    id % 400 === 7 ? [] : id % 500 === 9 ? [home, home === "Aragon" ? "Occitanie" : "Aragon"] : [home];
  const slug =
    id % 90 === 3 ? "" : id % 300 === 4 ? (SLUGS[1 + (category % 7)] as string) : (SLUGS[category] as string);
  const altitudes = [
    `${1200 + roll(2, 200) * 8}`,
    "1640m",
    "2 135",
    "1.925 ",
    "+/- 1150",
    "1760m ?",
    "",
    null,
  ];
  const capacities = ["", " ", "12", "4 a 5", "2 3", "15 env ", "0 ou 4", "0"];
  return {
    id,
    name: `${["Refuge", "Cabane", "Orri", "Abri"][roll(3, 4)]} d'Ossò ${id}${roll(4, 9) === 0 ? " " : ""}`,
    lon: Math.round((-1.9 + (dice.readUInt32BE(8) / 2 ** 32) * 5) * 1e5) / 1e5,
    lat: Math.round((42.2 + (dice.readUInt32BE(12) / 2 ** 32) * 0.9) * 1e5) / 1e5,
    category,
    slug,
    regions,
    commune: ["Sallent de G", "Laruns", "Vielha", "Bielsa"][roll(5, 4)] as string,
    comment:
      roll(6, 10) < 3
        ? ""
        : `Vu le ${1 + roll(7, 28)}/07 &quot;propre&quot; n&#176;${id}\r\nl\\'eau est \u{e0} 5 mn ????`,
    altitude: altitudes[roll(16, 8)] as string | null,
    summer: capacities[roll(17, 8)] as string,
    winter: roll(18, 6) === 0 ? "idem" : (capacities[roll(19, 8)] as string),
    photo: roll(20, 3) === 0 ? "" : roll(20, 3) === 1 ? "refugesansphoto.jpg" : `p${id}.jpg`,
  };
}

/** PHP's json_encode: ASCII only, slashes escaped. */
function phpJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("/", "\\/")
    .replace(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The document for some of the places, in the service's own order. */
export function upstreamDocument(
  places: readonly TruePlace[],
  edit: (feature: Feature) => void = () => {},
): string {
  let comment = ""; // the PHP variable that is not reset
  const features = [...places].sort(byHiddenKey).map((place) => {
    if (place.comment !== "") comment = place.comment;
    const feature: Feature = {
      type: "Feature",
      geometry: { type: "Point", coordinates: [place.lon, place.lat] },
      properties: {
        name: place.name,
        url: `http://www.pyrenees-refuges.com/fr/affiche.php?numenr=${place.id}`,
        descriptif: `cabane situee pres du lac ${place.id} a droite`,
        commentaire: comment,
        photo: place.photo,
        region: place.commune,
        altitude: place.altitude,
        cap_ete: place.summer,
        cap_hiver: place.winter,
        type_hebergement: place.slug,
      },
    };
    edit(feature);
    return feature;
  });
  return phpJson({ type: "FeatureCollection", generator: "Pyrenees-refuges.com", features });
}

export interface Feature {
  type: string;
  geometry: { type: string; coordinates: unknown } | null;
  properties: Record<string, unknown>;
}

const hiddenKeys = new Map<number, string>();

function hiddenKey({ id }: TruePlace): string {
  const key = hiddenKeys.get(id) ?? createHash("md5").update(`${id}`).digest("hex");
  hiddenKeys.set(id, key);
  return key;
}

function byHiddenKey(a: TruePlace, b: TruePlace): number {
  return hiddenKey(a) < hiddenKey(b) ? -1 : 1;
}

/** Answers one request in place of the service; true = the service answers after all. */
export type Fault = (
  request: IncomingMessage,
  response: ServerResponse,
  rightBody: string,
) => boolean | undefined;

export interface Upstream {
  readonly address: string;
  /** Every request, as path and query, in order. */
  readonly requests: string[];
  readonly userAgents: Set<string>;
  /** Most connections that were open at once. */
  readonly mostConnections: () => number;
  /** Statuses that were sent, in order. */
  readonly statuses: number[];
  places: TruePlace[];
  /** One for each of the next requests. */
  readonly faults: Fault[];
  /** For every request. */
  always: Fault | null;
  edit: (feature: Feature) => void;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly count?: number;
  readonly knowsRegions?: boolean;
  readonly knowsCategories?: boolean;
  readonly knowsPages?: boolean;
  /** Most places of one answer. */
  readonly cap?: number;
  readonly sendsValidators?: boolean;
  readonly coding?: "gzip" | "br" | null;
  /** ms before every answer. */
  readonly delay?: number;
}

/** Starts it on a free port of the loopback. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const { count = 1600, delay = 0 } = options;
  let connections = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://upstream");
    upstream.requests.push(url.pathname + decodeURIComponent(url.search));
    upstream.userAgents.add(String(request.headers["user-agent"]));
    response.on("finish", () => upstream.statuses.push(response.statusCode));
    const body = upstreamDocument(select(upstream.places, url.searchParams, options), upstream.edit);
    setTimeout(() => {
      const fault = upstream.faults.shift() ?? upstream.always;
      if (fault === null || fault(request, response, body) === true)
        sendRight(request, response, body, options);
    }, delay);
  });
  server.on("connection", (socket) => {
    most = Math.max(most, ++connections);
    socket.on("close", () => connections--);
  });
  const upstream: Upstream = {
    address: "",
    requests: [],
    userAgents: new Set(),
    mostConnections: () => most,
    statuses: [],
    places: madeUpPlaces(count),
    faults: [],
    always: null,
    edit: () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, { address: `http://127.0.0.1:${port}/api.php` });
}

function select(places: readonly TruePlace[], query: URLSearchParams, options: UpstreamOptions): TruePlace[] {
  const {
    knowsRegions = true,
    knowsCategories = true,
    knowsPages = false,
    cap = Number.POSITIVE_INFINITY,
  } = options;
  const [region, category] = [query.get("region"), query.get("type_lieu")];
  const chosen = places.filter(
    (place) =>
      (!knowsRegions || region === null || place.regions.includes(region)) &&
      (!knowsCategories || category === null || String(place.category) === category),
  );
  const offset = knowsPages ? Number(query.get("offset") ?? 0) : 0;
  const limit = Math.min(knowsPages ? Number(query.get("limit") ?? 20_000) : cap, cap);
  return cap === Number.POSITIVE_INFINITY && !knowsPages
    ? chosen
    : chosen.sort(byHiddenKey).slice(offset, offset + limit);
}

function sendRight(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  { sendsValidators = false, coding = null }: UpstreamOptions,
): void {
  const etag = `"${createHash("md5").update(body).digest("hex")}"`;
  if (sendsValidators && request.headers["if-none-match"] === etag) {
    response.writeHead(304, { ETag: etag }).end();
    return;
  }
  const bytes =
    coding === "gzip" ? gzipSync(body) : coding === "br" ? brotliCompressSync(body) : Buffer.from(body);
  response.writeHead(200, {
    "Content-Type": "text/html; charset=UTF-8", // as PHP does when nobody says otherwise
    ...(coding !== null && { "Content-Encoding": coding }),
    ...(sendsValidators && { ETag: etag }),
  });
  response.end(bytes);
}
