/**
 * Every place of a service with the contract of `/api.php`: everything at once, once per region, once per category where
 * the service tells them apart, page by page. What a killed pull fetched is not fetched again.
 */

import { createHash } from "node:crypto";
import { UserError } from "../errors.js";
import { program } from "../program.js";
import { recordIdentity } from "../record.js";
import { categoryNumbers, categoryOfSlug } from "../taxonomy.js";
import { createRequests, type Requests, SourceChanged } from "./ask.js";
import { createClient } from "./client.js";
import { inherit } from "./inherit.js";
import { mergedRecords, mergePages } from "./merge.js";
import { recordsOf } from "./page.js";
import { openPages, type Pages } from "./pages.js";
import type { PullContext, Source, SourceItem } from "./source.js";

export const api: Source = { pull };

/** The regions that the known service answers to. */
export const knownRegions = [
  "Andorre",
  "Occitanie",
  "Nouvelle-Aquitaine",
  "Aragon",
  "Catalonia",
  "Navarre",
] as const;

const limits = {
  suggestedRegions: 30, // more different values in `region` than this are communes, not regions
  restarts: 3, // times that a source may change under a pull before it gives up
} as const;

/** The address of a service, checked: http(s), no user name, no password. Throws UserError `usage`. */
export function serviceAddress(from: string): URL {
  const url = URL.canParse(from) ? new URL(from) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new UserError(
      "usage",
      `--from takes a path, "-" or an http(s) address without a password, such as https://example.org/api.php; got ${JSON.stringify(from.slice(0, 200))}.`,
    );
  return url;
}

async function* pull(from: string, context: PullContext): AsyncGenerator<SourceItem> {
  const address = serviceAddress(from);
  const key = JSON.stringify([program.generator, address.href, context.regions]);
  const pages = openPages(context.workFile, createHash("sha256").update(key).digest("hex"), context.finished);
  const client = createClient(context);
  try {
    for (let restarts = 0; ; restarts++) {
      try {
        yield* pullOnce(address, context, pages, createRequests(address, client, pages, context));
        return;
      } catch (error) {
        if (!(error instanceof SourceChanged)) throw error;
        pages.clear();
        if (restarts < limits.restarts) continue;
        throw new UserError(
          "source",
          `${address.href} changed ${restarts + 1} times while it was pulled. The places pulled before are kept; try again later.`,
          [],
          { cause: error },
        );
      }
    }
  } finally {
    pages.close();
    await client.close();
  }
}

async function* pullOnce(
  address: URL,
  context: PullContext,
  pages: Pages,
  requests: Requests,
): AsyncGenerator<SourceItem> {
  if (await requests.isUnchanged(context.validators)) {
    yield { unchanged: true };
    return;
  }
  const whole = await requests.scope({ region: null, category: null, look: 0 });
  const isRelease = whole.some(({ generation }) => generation !== null);
  // Everything is buffered before the first record is given on: an item must not be of a state that changed since.
  const items = isRelease ? inherit(address, pages, requests) : askService(context, pages, requests);
  for await (const item of items) yield item;
  yield { clock: pages.startedAt.replace(/\.\d+Z$/, "Z") };
  yield { validators: requests.validators() };
}

async function* askService(
  context: PullContext,
  pages: Pages,
  requests: Requests,
): AsyncGenerator<SourceItem> {
  const wholeIds = requests.ids({ region: null, category: null, look: 0 });
  const asked = regionsToAsk(context, pages);
  const probe = probeCategory(pages);
  requests.expect(asked.length + categoryNumbers.length);
  const found = new Map<string, ReadonlySet<number>>();
  for (const region of asked) {
    await requests.scope({ region, category: null, look: 0 });
    found.set(region, requests.ids({ region, category: null, look: 0 }));
  }
  const regions = yield* honouredRegions(found, wholeIds, context.regions === "auto");
  const hasCategories = await askCategories(requests, wholeIds, probe);
  const inRegions = new Set(regions.flatMap((region) => [...(found.get(region) ?? [])]));
  const sum = regions.reduce((total, region) => total + (found.get(region)?.size ?? 0), 0);
  if (regions.length > 0 && (sum !== wholeIds.size || inRegions.size !== wholeIds.size)) {
    // A second look: the difference may be a place that came or went between two requests.
    await requests.lookAgain();
    const again = requests.ids({ region: null, category: null, look: 1 });
    if (again.size > 0 && again.size !== wholeIds.size)
      yield {
        warning: {
          text: `it held ${wholeIds.size} places at first and ${again.size} at the second look; these are in one of them only`,
          ids: difference(wholeIds, again),
        },
      };
    const total = again.size > 0 ? again.size : wholeIds.size;
    if (sum !== total)
      yield {
        warning: {
          text: `the regions have ${sum} places together, everything at once has ${total}; these are in one of them only`,
          ids: difference(inRegions, again.size > 0 ? again : wholeIds),
        },
      };
  }
  mergePages(pages);
  yield* mergedRecords(pages, regions, hasCategories);
}

function difference(one: ReadonlySet<number>, other: ReadonlySet<number>): number[] {
  const only = [...one].filter((id) => !other.has(id)).concat([...other].filter((id) => !one.has(id)));
  return only.sort((a, b) => a - b);
}

function regionsToAsk({ regions, knownRegions: stored }: PullContext, pages: Pages): string[] {
  if (regions === null) return [...knownRegions];
  if (regions !== "auto") return [...new Set(regions)];
  const said = new Set<string>();
  for (const page of pages.list()) {
    for (const record of recordsOf(pages.body(page))) said.add(recordIdentity(record).regionWord);
  }
  said.delete("");
  const suggested = said.size <= limits.suggestedRegions ? [...said].sort() : [];
  return [...new Set([...knownRegions, ...stored, ...suggested])];
}

/** A service that answers every region with everything does not know the parameter: its regions say nothing. */
function* honouredRegions(
  found: ReadonlyMap<string, ReadonlySet<number>>,
  whole: ReadonlySet<number>,
  isAuto: boolean,
): Generator<SourceItem, string[]> {
  const everything = [...found].filter(
    ([, ids]) => ids.size === whole.size && difference(ids, whole).length === 0,
  );
  if (found.size > 1 && everything.length > 1 && whole.size > 0) {
    const names = everything.map(([region]) => region).join(", ");
    yield {
      warning: {
        text: `the source answers every place for each of ${names}: it does not know regions`,
        ids: [],
      },
    };
    return [];
  }
  const empty = [...found].filter(([, ids]) => ids.size === 0).map(([region]) => region);
  if (!isAuto && empty.length > 0 && whole.size > 0)
    yield { warning: { text: `the source has no place in ${empty.join(", ")}`, ids: [] } };
  return [...found.keys()].filter((region) => !empty.includes(region));
}

/** The category that most records name: its answer cannot be empty, so it shows whether the service tells them apart. */
function probeCategory(pages: Pages): number | null {
  const counts = new Map<number, number>();
  for (const page of pages.list()) {
    for (const record of recordsOf(pages.body(page))) {
      const category = categoryOfSlug(recordIdentity(record).slug);
      if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1);
    }
  }
  const [most] = [...counts].sort(([a, many], [b, more]) => more - many || a - b);
  return most?.[0] ?? null;
}

async function askCategories(
  requests: Requests,
  whole: ReadonlySet<number>,
  probe: number | null,
): Promise<boolean> {
  if (probe === null) return false;
  const ask = (category: number) => requests.scope({ region: null, category, look: 0 });
  try {
    await ask(probe);
  } catch (error) {
    // A service that refuses the parameter does not know it; one that is gone was asked for more than this.
    if (error instanceof UserError && error.code === "source" && /answered 4\d\d /.test(error.message))
      return false;
    throw error;
  }
  const ids = requests.ids({ region: null, category: probe, look: 0 });
  if (ids.size === 0 || ids.size === whole.size) return false;
  for (const category of categoryNumbers) if (category !== probe) await ask(category);
  return true;
}
