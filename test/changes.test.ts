import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { build } from "../src/build/build.js";
import { writeChanges } from "../src/build/changes.js";
import { geojson } from "../src/formats/geojson.js";
import { pull } from "../src/pull/pull.js";
import { temporaryFolder } from "./setup/folders.js";
import { lean } from "./setup/release.js";
import { stored } from "./setup/stored.js";

const folder = temporaryFolder();

interface Feature {
  readonly id: number;
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Index {
  readonly steps: readonly {
    readonly generation: string;
    readonly content: string;
    readonly path?: string;
  }[];
}

interface Step {
  readonly upserts: readonly { readonly former: unknown; readonly feature: Feature }[];
  readonly removed: readonly { readonly id: number }[];
}

type State = ReadonlyMap<number, Feature>;

let databases = 0;

/** A database that takes one list of places after another; gives its release each time. */
function createHistory() {
  const name = join(folder, `history-${databases++}`);
  const site = `${name}-site`;
  let day = 0;
  return {
    site,
    /** Builds the whole release, or, because many are needed, only what a client catches up with. */
    publish: async (records: readonly object[], isWhole = false): Promise<State> => {
      writeFileSync(`${name}.json`, JSON.stringify(records));
      const date = new Date(Date.UTC(2026, 0, ++day)).toISOString();
      await pull({
        from: `${name}.json`,
        database: `${name}.sqlite`,
        force: true,
        about: { date },
        onProgress: () => {},
      });
      if (isWhole) await build({ ...lean, database: `${name}.sqlite`, site, onProgress: () => {} });
      return stored(`${name}.sqlite`, (store) => {
        if (!isWhole) writeChanges(site, store, (content, { date }) => `${content} ${date}`);
        const features = [...store.places()].map((place) => JSON.parse(geojson.place(place)) as Feature);
        return new Map(features.map((feature) => [feature.id, feature]));
      });
    },
  };
}

const readJson = <Value>(site: string, path: string): Value =>
  JSON.parse(readFileSync(join(site, path), "utf8")) as Value;

/** What the README tells a client to do; null when its state is not listed. */
function catchUp(site: string, generation: string, old: State): State | null {
  const { steps } = readJson<Index>(site, "changes/index.json");
  const from = steps.findIndex((step) => step.generation === generation);
  if (from === -1) return null;
  const state = new Map(old);
  for (const { path } of steps.slice(from + 1)) {
    const step = readJson<Step>(site, path ?? "");
    for (const { feature } of step.upserts) state.set(feature.id, feature);
    for (const { id } of step.removed) state.delete(id);
  }
  return state;
}

/** A key that a feature lacks stands for null. */
function plain(state: State): unknown {
  return [...state.values()]
    .sort((a, b) => a.id - b.id)
    .map(({ id, geometry, properties }) => ({
      id,
      geometry,
      properties: Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null)),
    }));
}

/** The state that the release is in, as a client's own manifest told it then. */
const generationOf = (site: string): string =>
  readJson<Index>(site, "changes/index.json").steps.at(-1)?.generation ?? "";

const record = fc.record({
  id: fc.integer({ min: 1, max: 12 }),
  name: fc.constantFrom("Refuge", "Cabane d'Ò", "Orri"),
  longitude: fc.constantFrom(0.1, 0.2, 1.3),
  latitude: fc.constantFrom(42.5, 42.6),
  category: fc.constantFrom(1, 5, 6),
  region: fc.constantFrom("Aragon", "Andorre"),
  altitude_m: fc.option(fc.integer({ min: 500, max: 3000 }), { nil: undefined }),
  eau: fc.option(fc.constantFrom("oui", "non"), { nil: undefined }),
});
const places = fc.uniqueArray(record, { selector: ({ id }) => id, minLength: 1, maxLength: 12 });

test("a copy of any listed generation catches up to the present places, over any history", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(places, { minLength: 2, maxLength: 5 }), async (history) => {
      const { site, publish } = createHistory();
      const states: { generation: string; state: State }[] = [];
      for (const records of history) {
        const state = await publish(records);
        states.push({ generation: generationOf(site), state });
        for (const old of states) {
          const reached = catchUp(site, old.generation, old.state);
          expect(reached && plain(reached)).toEqual(plain(state));
        }
      }
    }),
    { numRuns: 40 },
  );
});

const hut = (id: number, more: object = {}): object => ({
  id,
  name: `Hut ${id}`,
  longitude: id / 1000,
  latitude: 42.6,
  category: 2,
  region: "Aragon",
  ...more,
});
const huts = (count: number, more: (id: number) => object = () => ({})): object[] =>
  Array.from({ length: count }, (_, index) => hut(index + 1, more(index + 1)));

test("the feed tells people what is new, with the dates of the data, and every file is in the manifest", async () => {
  const { site, publish } = createHistory();
  await publish(huts(10), true);
  const before = readJson<{ generation: string }>(site, "manifest.json").generation;
  await publish([...huts(9, (id) => (id === 3 ? { altitude_m: 1999, name: "Hut <3>" } : {})), hut(20)], true);
  const feed = readFileSync(join(site, "changes/feed.atom"), "utf8");
  expect(feed.match(/<title>.*<\/title>/g)).toEqual([
    "<title>Mountain shelters</title>",
    "<title>Removed: Hut 10</title>",
    "<title>Changed: Hut &lt;3&gt;</title>",
    "<title>New: Hut 20</title>",
  ]);
  expect(feed).toContain("altitude_m: – → 1999");
  expect([...feed.matchAll(/<updated>(.*)<\/updated>/g)].map(([, date]) => date)).toEqual(
    Array(4).fill("2026-01-02T00:00:00Z"),
  );
  const { files } = readJson<{ files: { path: string; sha256: string }[] }>(site, "manifest.json");
  const { steps } = readJson<Index>(site, "changes/index.json");
  const now = readJson<{ generation: string }>(site, "manifest.json").generation;
  expect(steps.map(({ generation }) => generation)).toEqual([before, now]);
  for (const path of [
    "changes/index.json",
    "changes/feed.atom",
    ...steps.flatMap(({ path }) => path ?? []),
  ]) {
    const bytes = readFileSync(join(site, path));
    expect(files.find((file) => file.path === path)?.sha256).toBe(
      createHash("sha256").update(bytes).digest("hex"),
    );
  }
});

test("a step that changes most of the places is none: who is older takes the export", async () => {
  const { site, publish } = createHistory();
  const old = await publish(huts(300));
  const generation = generationOf(site);
  await publish(huts(300, (id) => (id <= 200 ? { altitude_m: 2000 } : {})));
  expect(catchUp(site, generation, old)).toBeNull();
  expect(readJson<Index>(site, "changes/index.json").steps).toHaveLength(1);
});

test("all steps together stay smaller than the data", async () => {
  const { site, publish } = createHistory();
  for (let round = 0; round < 6; round++)
    await publish(huts(200, (id) => (id <= 60 ? { altitude_m: 1000 + round } : {})));
  const { steps } = readJson<Index>(site, "changes/index.json");
  expect(steps.length).toBe(4); // three steps of 60 of 200 places, and the state they begin at
  expect(steps[0]?.path).toBeUndefined();
  for (const { path } of steps.slice(1)) expect(existsSync(join(site, path ?? ""))).toBe(true);
});
