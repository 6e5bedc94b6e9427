/** Requests to a service, page by page: each is asked for once per pull, whatever happens to the process. */

import { UserError } from "../errors.js";
import { recordIdentity } from "../record.js";
import type { Client } from "./client.js";
import { refuseOtherDatum } from "./datum.js";
import { type Answer, BadAnswer } from "./http.js";
import { readCollection, recordsOf } from "./page.js";
import type { Page, Pages, Scope } from "./pages.js";
import type { PullContext, Validators } from "./source.js";

const limits = {
  page: 20_000, // records asked for at a time: the largest page of the contract
  pages: 200, // of one request: more are no end
} as const;

/** The source went over to another state in the middle: what came before does not fit what comes now. */
export class SourceChanged extends Error {}

export interface Requests {
  /** Whether every address of the last pull answers 304. Answers that are new are kept as pages. */
  isUnchanged(validators: readonly Validators[]): Promise<boolean>;
  /** Every page of a scope. */
  scope(scope: Scope): Promise<Page[]>;
  /** Everything once more; kept as look 1 where it differs. */
  lookAgain(): Promise<void>;
  /** Ids of the records that a scope holds. */
  ids(scope: Scope): ReadonlySet<number>;
  /** How many more requests are to come. */
  expect(more: number): void;
  /** The body of another file of the same service; null when there is none. */
  file(path: string): Promise<Buffer | null>;
  validators(): Validators[];
}

export function createRequests(
  address: URL,
  client: Client,
  pages: Pages,
  context: Pick<PullContext, "onRequest">,
): Requests {
  let number = 0;
  let expected = 1;
  const known = new Map<string, ReadonlySet<number>>();
  const fetchPage = async (
    scope: Scope,
    offset: number,
    validators: Validators | null,
  ): Promise<Page | null> => {
    const url = addressOf(address, scope, offset);
    number++;
    const label = labelOf(scope);
    const announce = (records: number | null) =>
      context.onRequest({ label, number, of: Math.max(expected, number), records, region: scope.region });
    announce(null);
    const found = await client.get(url, validators, (answer) => readPage(scope, offset, url, answer));
    if (found === null) return null;
    refuseOtherGeneration(found.page, pages);
    pages.add(found.page, found.body);
    announce(offset + found.page.count);
    return found.page;
  };
  const idsOf = (scope: Scope): ReadonlySet<number> => {
    const name = JSON.stringify([scope.region, scope.category, scope.look]);
    const ids = known.get(name) ?? readIds(pages, scope);
    known.set(name, ids);
    return ids;
  };
  const readScope = async (scope: Scope, validators: Validators | null): Promise<Page[]> => {
    const found: Page[] = [];
    const seen = new Set<number>();
    for (let offset = 0; ; ) {
      const page =
        pages.find(scope, offset) ?? (await fetchPage(scope, offset, offset === 0 ? validators : null));
      if (page === null) break;
      const isLast = !page.more;
      const ids = isLast && offset === 0 ? [] : idsOfPage(pages, page);
      // A service may ignore `offset`: a page that brings nothing new is none.
      if (offset > 0 && ids.every((id) => seen.has(id))) {
        pages.remove(page);
        break;
      }
      found.push(page);
      if (isLast) break;
      for (const id of ids) seen.add(id);
      offset += page.count;
      if (found.length === limits.pages) throw endless(page);
    }
    return found;
  };
  return {
    expect: (more) => {
      expected = number + more;
    },
    isUnchanged: (validators) => isUnchanged(address, pages, validators, fetchPage),
    scope: (scope) => readScope(scope, null),
    lookAgain: async () => {
      const everything = { region: null, category: null };
      const first = pages.find({ ...everything, look: 0 }, 0);
      await readScope({ ...everything, look: 1 }, first?.validators ?? null);
    },
    ids: idsOf,
    file: async (path) => {
      try {
        return await client.get(new URL(path, address).href, null, ({ body }) => body);
      } catch (error) {
        if (error instanceof Error && /answered (404|410) /.test(error.message)) return null;
        throw error;
      }
    },
    validators: () =>
      pages
        .list()
        .filter(({ look }) => look === 0)
        .map(({ validators }) => validators),
  };
}

async function isUnchanged(
  address: URL,
  pages: Pages,
  validators: readonly Validators[],
  fetchPage: (scope: Scope, offset: number, validators: Validators | null) => Promise<Page | null>,
): Promise<boolean> {
  // Pages of a killed pull: the source was found changed already.
  if (pages.list().length > 0 || validators.length === 0) return false;
  if (validators.some(({ etag, lastModified }) => etag === null && lastModified === null)) return false;
  for (const one of validators) {
    const { scope, offset } = scopeOf(new URL(one.url));
    if (addressOf(address, scope, offset) !== one.url) return false;
    if ((await fetchPage(scope, offset, one)) !== null) return false;
  }
  return true;
}

function addressOf(address: URL, { region, category }: Scope, offset: number): string {
  const url = new URL(address);
  url.hash = "";
  url.searchParams.set("type_fichier", "GEOJSON");
  if (region !== null) url.searchParams.set("region", region);
  if (category !== null) url.searchParams.set("type_lieu", String(category));
  url.searchParams.set("limit", String(limits.page));
  if (offset > 0) url.searchParams.set("offset", String(offset));
  return url.href;
}

function scopeOf({ searchParams }: URL): { readonly scope: Scope; readonly offset: number } {
  const category = searchParams.get("type_lieu");
  return {
    scope: {
      region: searchParams.get("region"),
      category: category === null ? null : Number(category),
      look: 0,
    },
    offset: Number(searchParams.get("offset") ?? 0),
  };
}

function labelOf({ region, category }: Scope): string {
  return region ?? (category === null ? "everything" : `category ${category}`);
}

function readPage(
  scope: Scope,
  offset: number,
  url: string,
  { body, validators, headers }: Answer,
): { readonly page: Page; readonly body: Buffer } | null {
  if (body === null) return null;
  const { features, members } = readCollection(body);
  refuseOtherDatum(members["crs"], url);
  const count = features.length;
  const matched = parseCount(headers.get("ogc-numbermatched"));
  if (count === 0 && matched !== null && matched > offset)
    throw new BadAnswer(`it says that it has ${matched} places, and sends none behind the first ${offset}`);
  // A round count may be the service's own cap: one more request tells.
  const looksCut = count >= limits.page || (count > 0 && count % 100 === 0);
  const says = matched === null ? /\brel="?next\b/.test(headers.get("link") ?? "") : offset + count < matched;
  const generation = typeof members["generation"] === "string" ? members["generation"] : null;
  const isTold = matched !== null || generation !== null;
  const page = { ...scope, offset, url, validators, count, more: says || (looksCut && !isTold), generation };
  return { page, body };
}

/** A header that counts; null for anything but digits, which tells nothing. */
function parseCount(value: string | null): number | null {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
}

/** Pages of a release of this program must be of one generation. */
function refuseOtherGeneration(page: Page, pages: Pages): void {
  const others = pages.list().filter(({ generation }) => generation !== null);
  if (others.some(({ generation }) => generation !== page.generation))
    throw new SourceChanged(`${page.url} is of another generation than the pages before`);
}

function endless({ url }: Page): UserError {
  return new UserError(
    "source",
    `${url} is page ${limits.pages} and more follow: the source has no end. The places pulled before are kept.`,
  );
}

function readIds(pages: Pages, scope: Scope): ReadonlySet<number> {
  const own = pages
    .list()
    .filter(
      ({ region, category, look }) =>
        region === scope.region && category === scope.category && look === scope.look,
    );
  return new Set(own.flatMap((page) => idsOfPage(pages, page)));
}

function idsOfPage(pages: Pages, page: Page): number[] {
  return recordsOf(pages.body(page))
    .map((record) => recordIdentity(record).id)
    .filter((id) => id !== null);
}
