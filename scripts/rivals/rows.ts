/** The endpoint as one would first write it: rows from SQLite with an index on the position, encoded for every request. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";

const [source = "", copy = ""] = process.argv.slice(2);
new Database(source, { readonly: true }).exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`).close();
const database = new Database(copy);
database.exec("CREATE INDEX position ON place (lat, lon); CREATE INDEX kind ON place (category)");
const columns =
  "id, lon, lat, name, url, description, comment, photo, region, altitude_text, summer_text, winter_text, category_slug, category, commune, altitude, summer_capacity, winter_capacity";
const inBox = database.prepare<(string | number)[], Record<string, unknown>>(
  `SELECT ${columns} FROM place WHERE lon >= ? AND lat >= ? AND lon <= ? AND lat <= ? LIMIT 20000`,
);
const ofCategory = database.prepare<(string | number)[], Record<string, unknown>>(
  `SELECT ${columns} FROM place WHERE category = ? LIMIT 20000`,
);
const all = database.prepare<[], Record<string, unknown>>(`SELECT ${columns} FROM place LIMIT 20000`);

function answer(search: URLSearchParams): string {
  const bbox = search.get("bbox");
  const category = search.get("type_lieu");
  const rows =
    bbox !== null
      ? inBox.all(...bbox.split(",").map(Number))
      : category !== null
        ? ofCategory.all(category)
        : all.all();
  return JSON.stringify({
    type: "FeatureCollection",
    features: rows.map(({ id, lon, lat, ...properties }) => ({
      type: "Feature",
      id,
      geometry: { type: "Point", coordinates: [lon, lat] },
      properties,
    })),
  });
}

const server = createServer((request, response) => {
  const plain = Buffer.from(answer(new URL(request.url ?? "/", "http://localhost").searchParams));
  const isZipped = request.headers["accept-encoding"]?.includes("gzip") === true;
  const body = isZipped ? gzipSync(plain) : plain;
  response.writeHead(200, {
    "Content-Type": "application/geo+json",
    "Content-Length": body.length,
    ...(isZipped && { "Content-Encoding": "gzip" }),
  });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
