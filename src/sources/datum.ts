/** What the positions of a document refer to: WGS84, or they are refused. Read as WGS84, ED50 is 150 m off in the Pyrenees. */

import { UserError } from "../errors.js";

// CRS 84 and EPSG 4326; 4979 is WGS84 with heights; ETRS89 (4258) and RGF93 (4171) agree with it within a metre.
const WGS84 = /\b(CRS:?84h?|EPSG[:/]([\d.]*[:/])?(4326|4979|4258|4171))$/i;

/**
 * Throws UserError `source` where the collection's `crs` (GeoJSON of 2008, section 3; gone in RFC 7946, still written by
 * QGIS and GDAL) names another system. `name` is that of the document.
 */
export function refuseOtherDatum(crs: unknown, name: string): void {
  if (crs === undefined || crs === null) return;
  const properties = typeof crs === "object" && "properties" in crs ? crs.properties : null;
  const system =
    typeof properties === "object" && properties !== null && "name" in properties ? properties.name : null;
  if (typeof system === "string" && WGS84.test(system.trim())) return;
  throw new UserError(
    "source",
    `${name} gives its positions in ${JSON.stringify(system ?? crs).slice(0, 100)}, not in WGS84: they would be read as other places. The places pulled before are kept. To convert a file: ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES new.geojson old.geojson.`,
  );
}
