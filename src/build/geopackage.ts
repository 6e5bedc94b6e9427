/**
 * places.gpkg: every place as a GeoPackage 1.3 (OGC 12-128r17) with a spatial index and the terms of the data, which QGIS and
 * GDAL open as it is. It is a file of its own: the server holds its database in memory, and needs nothing of this one.
 */

import Database from "better-sqlite3";
import { extraText, propertyNames, propertyValues } from "../formats/properties.js";
import { element } from "../formats/xml.js";
import type { BBox, Place, Provenance } from "../place.js";
import { propertySchemas } from "./openapi.js";

/** What the package says of itself. */
export interface PackageAbout extends Provenance {
  readonly generator: string;
  readonly generation: string;
  readonly bbox: BBox | null;
  readonly extraKeys: readonly string[];
}

export interface PackageWriter {
  /** Places come in any order, one by one. */
  add(place: Place): void;
  /** Writes the package to disk and closes it. */
  finish(): void;
}

export const GEOPACKAGE = "places.gpkg";
export const GEOPACKAGE_TYPE = "application/geopackage+sqlite3";

const WGS84 = 4326; // EPSG
// Own columns for the passed-through values; a source with more keys than SQLite has columns gets one column for all.
const MOST_COLUMNS = 1000;

/** Starts the package at `path`, which must not exist. The same places give the same bytes. */
export function createGeoPackage(path: string, about: PackageAbout): PackageWriter {
  const database = new Database(path);
  // A kill leaves an unfinished release folder, which is thrown away whole: no journal is needed here.
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  database.pragma("cache_size = -4096"); // KiB: neighbours are added one after the other
  database.pragma(`application_id = ${0x47504b47}`); // "GPKG"
  database.pragma("user_version = 10300");
  database.exec("BEGIN");
  database.exec(TABLES);
  const extraColumns = about.extraKeys.length > MOST_COLUMNS ? ["extra"] : freeNames(about.extraKeys);
  database.exec(placesTable(extraColumns));
  describe(database, about);
  const slots = 2 + propertyNames.length - 1 + extraColumns.length;
  const insertPlace = database.prepare(`INSERT INTO places VALUES (${Array(slots).fill("?").join(", ")})`);
  const insertBox = database.prepare("INSERT INTO rtree_places_geom VALUES (?, ?, ?, ?, ?)");
  const extraOf = ({ extra }: Place): string[] =>
    about.extraKeys.length > MOST_COLUMNS
      ? [JSON.stringify(Object.fromEntries(extra))]
      : extra.map(([, value]) => extraText(value));
  const add = (place: Place): void => {
    const values = propertyValues(place).filter((_, index) => propertyNames[index] !== "id");
    insertPlace.run(place.id, point(place), ...values, ...extraOf(place));
    insertBox.run(place.id, place.lon, place.lon, place.lat, place.lat);
  };
  return {
    add,
    finish: () => {
      // Only now: the triggers call functions that editors such as QGIS bring, and SQLite alone does not have.
      database.exec(TRIGGERS);
      database.exec("COMMIT");
      database.close();
    },
  };
}

/** Column names that differ from ours and from each other; SQLite does not tell letters by their case. */
function freeNames(keys: readonly string[]): string[] {
  const taken = new Set<string>([...propertyNames, "geom"]);
  return keys.map((key) => {
    let name = key;
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${key}_${number}`;
    taken.add(name.toLowerCase());
    return name;
  });
}

const SQL_TYPES = { string: "TEXT", integer: "INTEGER", number: "REAL" } as const;

function placesTable(extraColumns: readonly string[]): string {
  const columns = propertyNames
    .filter((name) => name !== "id")
    .map((name) => `${name} ${SQL_TYPES[propertySchemas[name].type]}`);
  const extra = extraColumns.map((name) => `"${name.replaceAll('"', '""')}" TEXT`);
  return `CREATE TABLE places (${["id INTEGER PRIMARY KEY NOT NULL", "geom POINT", ...columns, ...extra].join(", ")})`;
}

/** A point as GeoPackage holds it: section 2.1.3, little-endian, no envelope, then well-known binary. */
function point({ lon, lat }: Place): Buffer {
  const bytes = Buffer.alloc(29);
  bytes.write("GP", "ascii");
  bytes.writeUInt8(1, 3); // flags: little-endian
  bytes.writeInt32LE(WGS84, 4);
  bytes.writeUInt8(1, 8); // well-known binary, little-endian
  bytes.writeUInt32LE(1, 9); // a point
  bytes.writeDoubleLE(lon, 13);
  bytes.writeDoubleLE(lat, 21);
  return bytes;
}

function describe(database: Database.Database, about: PackageAbout): void {
  const terms = `${about.attribution} ${about.license} Data of ${about.date}. Generation ${about.generation}. ${about.generator}`;
  const { west, south, east, north } = about.bbox ?? { west: null, south: null, east: null, north: null };
  const changed = about.date.replace(/Z$/, ".000Z");
  database
    .prepare("INSERT INTO gpkg_contents VALUES ('places', 'features', ?, ?, ?, ?, ?, ?, ?, ?)")
    .run(about.title, terms, changed, west, south, east, north, WGS84);
  database.exec(`INSERT INTO gpkg_geometry_columns VALUES ('places', 'geom', 'POINT', ${WGS84}, 0, 0)`);
  // The form that QGIS reads and shows as the layer's metadata.
  const metadata =
    `<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n<qgis version="3.28"><type>dataset</type>` +
    `${element("title", about.title)}${element("abstract", terms)}${element("rights", about.attribution)}${element("license", about.license)}</qgis>\n`;
  database
    .prepare("INSERT INTO gpkg_metadata VALUES (1, 'dataset', 'http://mrcc.com/qgis.dtd', 'text/xml', ?)")
    .run(metadata);
  database
    .prepare("INSERT INTO gpkg_metadata_reference VALUES ('table', 'places', NULL, NULL, ?, 1, NULL)")
    .run(changed);
}

const WGS84_WKT =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]';

// Annex C of the standard.
const TABLES = `
  CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY,
    organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
  INSERT INTO gpkg_spatial_ref_sys VALUES
    ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined cartesian coordinate reference system'),
    ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system'),
    ('WGS 84 geodetic', ${WGS84}, 'EPSG', ${WGS84}, '${WGS84_WKT}', 'longitude/latitude coordinates in decimal degrees');
  CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
    description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
    CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
  CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
    geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
    CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name),
    CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
    CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
  CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL,
    definition TEXT NOT NULL, scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
  INSERT INTO gpkg_extensions VALUES
    ('places', 'geom', 'gpkg_rtree_index', 'http://www.geopackage.org/spec120/#extension_rtree', 'write-only'),
    ('gpkg_metadata', NULL, 'gpkg_metadata', 'http://www.geopackage.org/spec120/#extension_metadata', 'read-write'),
    ('gpkg_metadata_reference', NULL, 'gpkg_metadata', 'http://www.geopackage.org/spec120/#extension_metadata', 'read-write');
  CREATE TABLE gpkg_metadata (id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL,
    md_scope TEXT NOT NULL DEFAULT 'dataset', md_standard_uri TEXT NOT NULL,
    mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL DEFAULT '');
  CREATE TABLE gpkg_metadata_reference (reference_scope TEXT NOT NULL, table_name TEXT, column_name TEXT,
    row_id_value INTEGER, timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    md_file_id INTEGER NOT NULL, md_parent_id INTEGER,
    CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id),
    CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id));
  CREATE VIRTUAL TABLE rtree_places_geom USING rtree(id, minx, maxx, miny, maxy);
`;

const HAS_POINT = "NEW.geom NOTNULL AND NOT ST_IsEmpty(NEW.geom)";
const HAS_NONE = "NEW.geom ISNULL OR ST_IsEmpty(NEW.geom)";
const INSERT_BOX =
  "INSERT OR REPLACE INTO rtree_places_geom VALUES (NEW.id, ST_MinX(NEW.geom), ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom))";

// Annex F.3: they keep the index true when somebody edits the package.
const TRIGGERS = `
  CREATE TRIGGER rtree_places_geom_insert AFTER INSERT ON places WHEN (${HAS_POINT}) BEGIN ${INSERT_BOX}; END;
  CREATE TRIGGER rtree_places_geom_update1 AFTER UPDATE OF geom ON places
    WHEN OLD.id = NEW.id AND (${HAS_POINT}) BEGIN ${INSERT_BOX}; END;
  CREATE TRIGGER rtree_places_geom_update2 AFTER UPDATE OF geom ON places
    WHEN OLD.id = NEW.id AND (${HAS_NONE}) BEGIN DELETE FROM rtree_places_geom WHERE id = OLD.id; END;
  CREATE TRIGGER rtree_places_geom_update3 AFTER UPDATE ON places
    WHEN OLD.id != NEW.id AND (${HAS_POINT})
    BEGIN DELETE FROM rtree_places_geom WHERE id = OLD.id; ${INSERT_BOX}; END;
  CREATE TRIGGER rtree_places_geom_update4 AFTER UPDATE ON places
    WHEN OLD.id != NEW.id AND (${HAS_NONE}) BEGIN DELETE FROM rtree_places_geom WHERE id IN (OLD.id, NEW.id); END;
  CREATE TRIGGER rtree_places_geom_delete AFTER DELETE ON places WHEN OLD.geom NOTNULL
    BEGIN DELETE FROM rtree_places_geom WHERE id = OLD.id; END;
`;
