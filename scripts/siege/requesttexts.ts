/** Request texts of every kind, from a seed: right ones, odd ones, and what is no HTTP. */

export interface RequestText {
  /** Whether the next request may follow on the same connection: nothing in it says where it ends, or that it is the last. */
  readonly isFramed: boolean;
  readonly method: string;
  readonly bytes: Buffer;
}

const METHODS = "GET GET GET GET GET HEAD OPTIONS POST PUT DELETE PATCH TRACE PROPFIND CONNECT BREW".split(
  " ",
);

const PATHS = [
  ...["/api.php", "/", "/exports/all/all.geojson", "/exports/all/6.csv", "/manifest.json", "/index.sqlite"],
  ...["/tiles/0/0/0.pbf", "/tiles/99/1/1.pbf", "/tiles.json", "/places.pmtiles", "/healthz", "/metrics"],
  ...["/outside.txt", "/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/..\\outside.txt"],
  ...["/exports/../../outside.txt", "/.htpasswd", "/.git/config", "//outside.txt", "/%00", "/%ff", "*"],
  ...["http://other.example/api.php", "http://a/../outside.txt", "/__proto__", "/exports/all/all.csv.gz"],
];

const PIECES = [
  ..."format= type_fichier= bbox= limit= offset= region= type_lieu= & & & ? = % %2e %2f %5c .. / \\ , - + # ;".split(
    " ",
  ),
  ..."0 1 -1 0.5 90 -180 1e9 NaN 999999999999 geojson GPX csv kml json xls all 6 Aragon __proto__ é %F0%9F %00".split(
    " ",
  ),
];

const HEADERS =
  "Accept-Encoding If-None-Match If-Modified-Since If-Range Range X-Forwarded-Host X-Forwarded-Proto Cookie Accept Origin".split(
    " ",
  );
const FRAMING = "Connection Expect Upgrade Transfer-Encoding Content-Length Host".split(" ");

const VALUES = [
  ...'bytes= 0- -5 5- 0-0 99999999- , ; q= q=0 gzip br * identity W/ "abc" " = chunked close keep-alive'.split(
    " ",
  ),
  ...[
    "Mon, 02 Feb 2026 00:00:00 GMT",
    "100-continue",
    "websocket",
    "h2c",
    "a".repeat(300),
    "é",
    "\t",
    "0",
    "-1",
  ],
];

/** The next text. */
export function requestText(random: () => number): RequestText {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const some = <Item>(items: readonly Item[], most: number): Item[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(items));
  const anyBytes = (most: number): Buffer =>
    Buffer.from(Array.from({ length: Math.floor(random() * most) }, () => Math.floor(random() * 256)));
  const kind = random();
  if (kind < 0.03)
    return {
      method: "",
      bytes: Buffer.concat([Buffer.from("G"), anyBytes(80), Buffer.from("\r\n\r\n")]),
      isFramed: false,
    };
  const method = pick(METHODS);
  const target =
    kind < 0.15
      ? Buffer.concat([Buffer.from("/"), printable(anyBytes(60))])
      : Buffer.from(kind < 0.2 ? pick(PATHS) : `${pick(PATHS)}?${some(PIECES, 12).join("")}`);
  const long = random() < 0.005 ? "x".repeat(Math.floor(random() * 30_000)) : "";
  const isFramed = method !== "CONNECT" && long === "" && random() < 0.9;
  const headers = some(isFramed ? HEADERS : [...HEADERS, ...FRAMING, ...FRAMING], 4).map(
    (name) => `${name}: ${some(VALUES, 4).join("")}\r\n`,
  );
  const bytes = Buffer.concat([
    Buffer.from(`${method} `),
    target,
    Buffer.from(`${long} HTTP/1.1\r\nHost: localhost\r\n${headers.join("")}\r\n`),
  ]);
  return { method, bytes, isFramed };
}

/** Spaces and line ends would end the request line. */
function printable(bytes: Buffer): Buffer {
  return bytes.map((byte) => (byte <= 0x20 || byte === 0x7f ? 0x25 : byte)) as Buffer;
}
