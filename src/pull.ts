/** Source -> parsePlace -> store: one transaction that replaces the good data only by data at least as good. */

import { UserError } from "./errors.js";
import { createPlaceParser, type Refusal, type Repair } from "./parse.js";
import type { Provenance } from "./place.js";
import { sourceOf } from "./sources/index.js";
import { type Group, openStore } from "./store.js";
import { cleanLabel } from "./text.js";

export interface PullOptions {
  /** Path of a CSV, JSON or GeoJSON file, or `-` for standard input. */
  readonly from: string;
  readonly database: string;
  /** Replace the data even when too much is refused or lost. */
  readonly force: boolean;
  /** What the data set says of itself, over what the source says. */
  readonly about: Partial<Provenance>;
  readonly onProgress: (records: number) => void;
}

export interface PullReport {
  readonly database: string;
  readonly read: number;
  readonly places: number;
  readonly before: number;
  readonly provenance: Provenance;
  readonly repaired: Readonly<Partial<Record<Repair, number>>>;
  readonly refused: Readonly<Partial<Record<Refusal, number>>>;
  /** The refused records, the first thousand. */
  readonly refusals: readonly { readonly reason: Refusal; readonly record: string }[];
}

const limits = {
  refusedShare: 0.05, // of the records read: more means that the source is not what it should be
  refusedAlways: 3, // a handful is let pass whatever its share, so that small files can be pulled
  lostShare: 0.05, // of the places there were before
  listedRefusals: 1000, // kept for the report; the counts are complete
} as const;

const DEFAULT_PROVENANCE: Omit<Provenance, "date"> = {
  title: "Mountain shelters",
  attribution: "Unknown source.",
  license: "No licence is known: ask the publisher before you redistribute these data.",
};

/**
 * Replaces the places of the database by those of the source. On any error the places that were there stay.
 * Throws UserError: `source`, `refused`, `busy`, `damaged`, `system`.
 */
export async function pull(options: PullOptions): Promise<PullReport> {
  const source = sourceOf(options.from);
  const store = openStore(options.database, { create: true });
  try {
    const before = store.groups();
    const replacement = store.replace();
    try {
      const gathered = await gather(source.pull(options.from), replacement.add, options.onProgress);
      const provenance = settleProvenance({ ...gathered.about, ...options.about });
      const report = { database: options.database, before: countOf(before), provenance, ...gathered.counts };
      if (!options.force) {
        refuseBadSource(report);
        refuseLoss(before, replacement.groups());
      }
      replacement.commit(provenance);
      return report;
    } catch (error) {
      replacement.abandon();
      throw error;
    }
  } finally {
    store.close();
  }
}

async function gather(
  items: ReturnType<ReturnType<typeof sourceOf>["pull"]>,
  add: (place: Parameters<ReturnType<ReturnType<typeof openStore>["replace"]>["add"]>[0]) => boolean,
  onProgress: (records: number) => void,
) {
  const parse = createPlaceParser();
  const about: Partial<Provenance> = {};
  const repaired: Partial<Record<Repair, number>> = {};
  const refused: Partial<Record<Refusal, number>> = {};
  const refusals: { reason: Refusal; record: string }[] = [];
  let read = 0;
  let places = 0;
  const refuse = (reason: Refusal, record: string): void => {
    refused[reason] = (refused[reason] ?? 0) + 1;
    if (refusals.length < limits.listedRefusals) refusals.push({ reason, record });
  };
  for await (const item of items) {
    if ("about" in item) {
      Object.assign(about, item.about);
      continue;
    }
    read++;
    const parsed = parse(item.record);
    if ("refused" in parsed) {
      refuse(parsed.refused, parsed.record);
    } else if (!add(parsed.place)) {
      refuse("repeated id", `${parsed.place.id} ${parsed.place.name}`);
    } else {
      places++;
      for (const repair of parsed.repairs) repaired[repair] = (repaired[repair] ?? 0) + 1;
    }
    if (read % 1000 === 0) onProgress(read);
  }
  return { about, counts: { read, places, repaired, refused, refusals } };
}

function settleProvenance(about: Partial<Provenance>): Provenance {
  const { date, ...words } = { ...DEFAULT_PROVENANCE, ...about };
  if (date === undefined || Number.isNaN(Date.parse(date)))
    throw new UserError(
      "usage",
      `The data's date must be ISO 8601, such as 2026-11-20T00:00:00Z; got ${JSON.stringify(date)}.`,
    );
  return {
    title: cleanLabel(words.title),
    attribution: cleanLabel(words.attribution),
    license: cleanLabel(words.license),
    date: new Date(date).toISOString().replace(/\.\d+Z$/, "Z"),
  };
}

function countOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

function refuseBadSource(report: Pick<PullReport, "read" | "places" | "refused" | "refusals">): void {
  const refused = report.read - report.places;
  const shown = report.refusals.slice(0, 20).map(({ reason, record }) => `${reason}: ${record}`);
  if (report.places === 0) {
    throw new UserError(
      "refused",
      `The source holds no usable place (${report.read} records read). The places pulled before are kept; --force overrides.`,
      shown,
    );
  }
  if (refused > limits.refusedAlways && refused > report.read * limits.refusedShare) {
    throw new UserError(
      "refused",
      `${refused} of ${report.read} records are unusable, more than ${limits.refusedShare * 100} %. The places pulled before are kept; --force overrides.`,
      shown,
    );
  }
}

function refuseLoss(before: readonly Group[], after: readonly Group[]): void {
  const [had, has] = [countOf(before), countOf(after)];
  if (has < had * (1 - limits.lostShare)) {
    throw new UserError(
      "refused",
      `The source has ${has} places where ${had} were known: more than ${limits.lostShare * 100} % would be lost. The places pulled before are kept; --force overrides.`,
    );
  }
  for (const key of ["region", "category"] as const) {
    const left = new Set(after.map((group) => group[key]));
    const gone = [...new Set(before.map((group) => group[key]))].filter(
      (value) => value !== null && !left.has(value),
    );
    if (gone.length > 0) {
      throw new UserError(
        "refused",
        `The source has no place any more of ${key} ${gone.join(", ")}. The places pulled before are kept; --force overrides.`,
      );
    }
  }
}
