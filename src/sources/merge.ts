/**
 * The pages of a service, put together: each record once, with the region and the category that the requests tell. The
 * service's records name neither reliably, and leak the comment of the record before into records that have none.
 */

import type Database from "better-sqlite3";
import { recordIdentity } from "../record.js";
import { type Category, categoryOfNumber, categoryOfSlug } from "../taxonomy.js";
import { recordsOf } from "./page.js";
import type { Page, Pages } from "./pages.js";
import type { SourceItem, Warning } from "./source.js";

const TABLES = `
  CREATE TEMP TABLE record (number INTEGER PRIMARY KEY, id INTEGER UNIQUE, json TEXT NOT NULL, lon REAL, lat REAL, slug TEXT);
  CREATE TEMP TABLE sighting (id INTEGER NOT NULL, region TEXT, category INTEGER, own INTEGER NOT NULL);
  CREATE TEMP TABLE repeated (id INTEGER PRIMARY KEY);
  CREATE TEMP TABLE own_comment (id INTEGER PRIMARY KEY, number INTEGER);
`;

/** Reads every page into temporary tables of the pull's own file: memory holds one page at a time. */
export function mergePages(pages: Pages): { readonly total: number } {
  const { database } = pages;
  database.exec(`DROP TABLE IF EXISTS temp.record; DROP TABLE IF EXISTS temp.sighting;
    DROP TABLE IF EXISTS temp.repeated; DROP TABLE IF EXISTS temp.own_comment; ${TABLES}`);
  // What was asked for without a region comes first: it gives the order.
  const ordered = pages.list().sort((a, b) => rankOf(a) - rankOf(b));
  database.transaction(() => {
    for (const page of ordered) readPage(database, page, pages.body(page));
    database.exec("CREATE INDEX temp.sighting_id ON sighting (id)");
  })();
  return { total: database.prepare<[], number>("SELECT count(*) FROM record").pluck().get() ?? 0 };
}

function rankOf({ region, category }: Page): number {
  return region === null && category === null ? 0 : 1;
}

function readPage(database: Database.Database, page: Page, body: Buffer): void {
  const addRecord = database.prepare("INSERT OR IGNORE INTO record VALUES (NULL, ?, ?, ?, ?, ?)");
  const addSighting = database.prepare("INSERT INTO sighting VALUES (?, ?, ?, ?)");
  const replaceRecord = database.prepare("UPDATE record SET json = ? WHERE id = ?");
  const isSeen = database
    .prepare("SELECT 1 FROM sighting WHERE id = ? AND region IS ? AND category IS ? LIMIT 1")
    .pluck();
  const isWhole = rankOf(page) === 0;
  const inThisPage = new Set<number>();
  let before = "";
  for (const record of recordsOf(body)) {
    const { id, lon, lat, slug, comment } = recordIdentity(record);
    // A record without an id cannot be told from its copies: it counts where everything was asked for once.
    if (id === null) {
      if (isWhole && page.look === 0) addRecord.run(null, JSON.stringify(record), null, null, null);
      before = comment;
      continue;
    }
    const isOwn = comment.trim() !== "" && comment !== before;
    before = comment;
    const json = JSON.stringify(record);
    const isNew = addRecord.run(id, json, lon, lat, slug).changes === 1;
    const isAgain =
      inThisPage.has(id) || (!isNew && page.offset > 0 && isSeen.get(id, page.region, page.category) === 1);
    if (isAgain && page.look === 0) database.prepare("INSERT OR IGNORE INTO repeated VALUES (?)").run(id);
    inThisPage.add(id);
    // The record is taken from an answer that shows its own comment, if there is one.
    if (
      isOwn &&
      database.prepare("INSERT OR IGNORE INTO own_comment VALUES (?, NULL)").run(id).changes === 1 &&
      !isNew
    )
      replaceRecord.run(json, id);
    addSighting.run(id, page.region, page.category, isOwn ? 1 : 0);
  }
}

/** What the requests agree and disagree on, and every record with what they say of it. */
export function* mergedRecords(
  pages: Pages,
  regions: readonly string[],
  hasCategories: boolean,
): Generator<SourceItem> {
  const { database } = pages;
  const records = database.prepare<
    [],
    { id: number | null; json: string; lon: number | null; lat: number | null; slug: string | null }
  >("SELECT id, json, lon, lat, slug FROM record ORDER BY number");
  const regionsOf = database
    .prepare<[number], string>("SELECT DISTINCT region FROM sighting WHERE id = ? AND region IS NOT NULL")
    .pluck();
  const categoriesOf = database
    .prepare<[number], number>(
      "SELECT DISTINCT category FROM sighting WHERE id = ? AND category IS NOT NULL ORDER BY 1",
    )
    .pluck();
  const hasOwnComment = database.prepare<[number], number>("SELECT 1 FROM own_comment WHERE id = ?").pluck();
  const odd = {
    none: [] as number[],
    several: [] as number[],
    categories: [] as number[],
    uncategorised: [] as number[],
    contradicted: [] as number[],
  };
  const nearest = nearestRegion(database);
  for (const { id, json, lon, lat, slug } of records.iterate()) {
    const record: unknown = JSON.parse(json);
    if (id === null) {
      yield { record, sighting: { region: null, category: null, ownComment: true } };
      continue;
    }
    const found = regionsOf.all(id).filter((region) => regions.includes(region));
    if (found.length === 0 && regions.length > 0) odd.none.push(id);
    if (found.length > 1) odd.several.push(id);
    const region = found.length > 1 ? nearest(found, lon, lat) : (found[0] ?? null);
    const asked = hasCategories
      ? categoriesOf
          .all(id)
          .map(categoryOfNumber)
          .filter((category) => category !== null)
      : [];
    const bySlug = categoryOfSlug(slug ?? "");
    if (asked.length > 1) odd.categories.push(id);
    if (hasCategories && asked.length === 0) odd.uncategorised.push(id);
    const category = chooseCategory(asked, bySlug);
    if (category !== null && bySlug !== category && asked.length === 1) odd.contradicted.push(id);
    yield { record, sighting: { region, category, ownComment: hasOwnComment.get(id) === 1 } };
  }
  yield* warnings(database, odd);
}

/** The request is better founded than the slug; where several requests returned the place, the slug decides. */
function chooseCategory(asked: readonly Category[], bySlug: Category | null): Category | null {
  if (asked.length > 1 && bySlug !== null && asked.includes(bySlug)) return bySlug;
  return asked[0] ?? bySlug;
}

/** The region, of those that claim a place, whose nearest undisputed place is nearest. */
function nearestRegion(database: Database.Database) {
  const undisputed = `SELECT s.region FROM record r JOIN sighting s USING (id)
    WHERE s.region IS NOT NULL AND r.lon IS NOT NULL
      AND (SELECT count(DISTINCT o.region) FROM sighting o WHERE o.id = r.id) = 1
      AND s.region IN (SELECT value FROM json_each(?))
    ORDER BY (r.lon - ?) * (r.lon - ?) * 0.54 + (r.lat - ?) * (r.lat - ?), s.region LIMIT 1`; // 0.54 = cos(42.7 degrees) squared
  const select = database.prepare<unknown[], string>(undisputed).pluck();
  return (regions: readonly string[], lon: number | null, lat: number | null): string | null =>
    (lon === null || lat === null ? undefined : select.get(JSON.stringify(regions), lon, lon, lat, lat)) ??
    regions[0] ??
    null;
}

function* warnings(
  database: Database.Database,
  odd: Readonly<Record<"none" | "several" | "categories" | "uncategorised" | "contradicted", number[]>>,
): Generator<{ readonly warning: Warning }> {
  const ids = (sql: string): number[] => database.prepare<[], number>(sql).pluck().all();
  const notInWhole = ids(
    `SELECT id FROM record WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM sighting WHERE region IS NULL AND category IS NULL) ORDER BY id`,
  );
  const texts: readonly (readonly [readonly number[], string])[] = [
    [odd.none, "in none of the regions: kept, without a region"],
    [odd.several, "in more than one region: kept in the one of their nearest neighbour"],
    [
      odd.categories,
      "in more than one category: kept in the one that their own record names, else the first",
    ],
    [
      odd.uncategorised,
      "in no answer for a category: the category is the one that their own record names, if any",
    ],
    [
      odd.contradicted,
      "whose own record names another category, or none: the request for the category is believed",
    ],
    [notInWhole, "came for a region or category, but not when everything was asked for: kept"],
    [ids("SELECT id FROM repeated ORDER BY id"), "came more than once: the first is kept"],
  ];
  for (const [list, text] of texts) {
    if (list.length > 0) yield { warning: { text, ids: [...list].sort((a, b) => a - b) } };
  }
}
