/** Source -> parsePlace -> store: one transaction that replaces the good data only by data at least as good. */

import { UserError } from "../errors.js";
import { createPlaceParser } from "../parse.js";
import type { Place, Provenance } from "../place.js";
import { program } from "../program.js";
import type { OptionalRepair, Refusal, Repair } from "../repairs.js";
import { sourceOf } from "../sources/index.js";
import { removePages } from "../sources/pages.js";
import type {
  NetworkLimits,
  PullContext,
  RequestEvent,
  SourceItem,
  Validators,
  Warning,
} from "../sources/source.js";
import type { Difference } from "../store/difference.js";
import type { Replacement } from "../store/replacement.js";
import { type Group, openStore, type Store } from "../store/store.js";
import { adoptSteps } from "./adopt.js";
import { countOf, refuseBadSource, refuseLoss } from "./guards.js";
import { originOf, settleProvenance } from "./provenance.js";
import { createTally } from "./tally.js";

export interface PullOptions {
  /** Path of a CSV, JSON or GeoJSON file, `-` for standard input, or the address of a service. */
  readonly from: string;
  readonly database: string;
  /** Replace the data even when too much is refused or lost. */
  readonly force: boolean;
  /** What the data set says of itself, over what the source says. */
  readonly about: Partial<Provenance>;
  readonly onProgress: (records: number) => void;
  /** Regions to ask a service for; default: the six of the known service. "auto" = what the data suggest. */
  readonly regions?: readonly string[] | "auto";
  /** An address or mailbox for the User-Agent, so that a service can reach whoever asks. */
  readonly contact?: string;
  /** Repairs that are not made. */
  readonly without?: ReadonlySet<OptionalRepair>;
  readonly limits?: Partial<NetworkLimits>;
  readonly onRequest?: (event: RequestEvent) => void;
  readonly onRetry?: (text: string) => void;
}

/** How many places a region and category has, and had. */
export interface CountedGroup {
  readonly region: string | null;
  readonly category: number | null;
  readonly count: number;
  readonly before: number;
}

export interface PullReport {
  readonly database: string;
  /** The source answered that it holds what it held; nothing was changed. */
  readonly unchanged: boolean;
  readonly read: number;
  readonly places: number;
  readonly before: number;
  readonly provenance: Provenance;
  readonly groups: readonly CountedGroup[];
  readonly difference: Difference;
  readonly repaired: Readonly<Partial<Record<Repair, number>>>;
  readonly refused: Readonly<Partial<Record<Refusal, number>>>;
  /** The refused records, the first thousand. */
  readonly refusals: readonly { readonly reason: Refusal; readonly record: string }[];
  readonly warnings: readonly Warning[];
}

/**
 * Replaces the places of the database by those of the source. On any error the places that were there stay.
 * Throws UserError: `source`, `refused`, `busy`, `damaged`, `system`.
 */
export async function pull(options: PullOptions): Promise<PullReport> {
  const source = sourceOf(options.from);
  const store = openStore(options.database, { create: true });
  const workFile = `${options.database}-pull`;
  try {
    const replacement = store.replace();
    try {
      const context = contextOf(options, store, workFile);
      const gathered = await gather(source.pull(options.from, context), replacement.add, options);
      const report = gathered.unchanged
        ? keep(store, replacement, options)
        : exchange(store, replacement, options, gathered);
      removePages(workFile);
      return report;
    } catch (error) {
      replacement.abandon();
      // What was refused is not asked for again from what was kept: the source may be mended meanwhile.
      if (error instanceof UserError && error.code === "refused") removePages(workFile);
      throw error;
    }
  } finally {
    store.close();
  }
}

function keep(store: Store, replacement: Replacement, { database }: PullOptions): PullReport {
  replacement.keep(new Date().toISOString());
  const groups = store.groups();
  const count = countOf(groups);
  return {
    database,
    unchanged: true,
    provenance: store.provenance(),
    difference: { added: 0, changed: 0, removed: 0, list: [] },
    ...{ read: 0, places: count, before: count, groups: compareGroups(groups, groups) },
    ...{ repaired: {}, refused: {}, refusals: [], warnings: [] },
  };
}

function exchange(
  store: Store,
  replacement: Replacement,
  options: PullOptions,
  { about, clock, counts, validators, inherited }: Gathered,
): PullReport {
  const [before, after] = [store.groups(), replacement.groups()];
  if (!options.force) {
    refuseBadSource(counts);
    refuseLoss(before, after);
  }
  const said = { ...about, ...options.about };
  const provenance = settleProvenance(options.from, said, clock);
  const whole = { ...counts, before: countOf(before), groups: compareGroups(before, after) };
  const report = (difference: Difference, settled: Provenance): PullReport => ({
    ...{ database: options.database, unchanged: false, provenance: settled, difference },
    ...whole,
  });
  const done = replacement.commit(provenance, {
    dateIsClock: said.date === undefined,
    origin: inherited?.origin ?? originOf(options.from, counts, clock),
    validators,
    key: keyOf(options),
    checked: () => new Date().toISOString(),
    steps: adoptSteps(inherited?.steps ?? []),
    report,
  });
  return report(done.difference, done.provenance);
}

/** What must be the same for a 304 to mean that nothing changes: the program that reads, and what it was told. */
function keyOf({ from, regions, about, without = new Set() }: PullOptions): string {
  return JSON.stringify([program.generator, from, regions ?? null, about, [...without].sort()]);
}

function contextOf(options: PullOptions, store: Store, workFile: string): PullContext {
  const { key, checked, validators } = store.lastPull();
  return {
    regions: options.regions ?? null,
    knownRegions: [...new Set(store.groups().map(({ region }) => region))].filter(
      (region) => region !== null,
    ),
    workFile,
    finished: checked,
    validators: key === keyOf(options) && !options.force ? validators : [],
    contact: options.contact ?? null,
    limits: options.limits ?? {},
    onRequest: options.onRequest ?? (() => {}),
    onRetry: options.onRetry ?? (() => {}),
  };
}

function compareGroups(before: readonly Group[], after: readonly Group[]): CountedGroup[] {
  const groups = new Map<string, CountedGroup>();
  const add = ({ region, category }: Group, counts: Partial<CountedGroup>): void => {
    const key = JSON.stringify([region, category]);
    groups.set(key, { region, category, count: 0, before: 0, ...groups.get(key), ...counts });
  };
  for (const group of before) add(group, { before: group.count });
  for (const group of after) add(group, { count: group.count });
  return [...groups.values()].sort(
    (a, b) => compareText(a.region, b.region) || (a.category ?? 8) - (b.category ?? 8),
  );
}

/** Places without a region come last. */
function compareText(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : a > b ? 1 : 0;
}

type Counts = Pick<PullReport, "read" | "places" | "repaired" | "refused" | "refusals" | "warnings">;

interface Gathered {
  readonly unchanged: boolean;
  readonly about: Partial<Provenance>;
  readonly clock: string | null;
  readonly validators: readonly Validators[];
  readonly inherited: Extract<SourceItem, { readonly inherited: unknown }>["inherited"] | null;
  readonly counts: Counts;
}

async function gather(
  items: AsyncIterable<SourceItem>,
  add: (place: Place, raw?: string) => boolean,
  { onProgress, without }: Pick<PullOptions, "onProgress" | "without">,
): Promise<Gathered> {
  const found = { unchanged: false, clock: null as string | null, about: {} as Partial<Provenance> };
  let validators: readonly Validators[] = [];
  let inherited: Gathered["inherited"] = null;
  const warnings: Warning[] = [];
  const tally = createTally(createPlaceParser(without), add);
  for await (const item of items) {
    if ("record" in item) {
      tally.take(item.record, item.sighting);
      if (tally.read() % 1000 === 0) onProgress(tally.read());
    } else if ("about" in item) Object.assign(found.about, item.about);
    else if ("clock" in item) found.clock = item.clock;
    else if ("warning" in item) warnings.push(item.warning);
    else if ("validators" in item) validators = item.validators;
    else if ("inherited" in item) inherited = item.inherited;
    else found.unchanged = true;
  }
  return { ...found, validators, inherited, counts: { ...tally.counts(), warnings } };
}
