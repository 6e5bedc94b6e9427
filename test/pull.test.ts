import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../src/errors.js";
import { bundledPlaces } from "../src/program.js";
import { type PullOptions, type PullReport, pull } from "../src/pull/pull.js";
import { openStore } from "../src/store/store.js";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";
import { stored } from "./setup/stored.js";

/** A raw record in our own layout. */
function raw(id: number, change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id,
    name: `Orri ${id}`,
    longitude: 1 + id / 1000,
    latitude: 42.5,
    type_lieu: 4,
    region: "Andorre",
    ...change,
  };
}

const rawMany = (count: number, change?: (id: number) => Readonly<Record<string, unknown>>) =>
  Array.from({ length: count }, (_, index) => raw(index + 1, change?.(index + 1)));

function workplace() {
  const folder = temporaryFolder();
  const database = join(folder, "places.sqlite");
  const pullRecords = (records: unknown, options: Partial<PullOptions> = {}): Promise<PullReport> => {
    const from = join(folder, "in.json");
    writeFileSync(from, JSON.stringify(records));
    return pull({ from, database, force: false, about: {}, onProgress: () => {}, ...options });
  };
  const state = () =>
    stored(database, (store) => ({
      hash: store.contentHash(),
      count: store.count(),
      about: store.provenance(),
    }));
  return { folder, database, pullRecords, state };
}

describe("a pull", () => {
  test("takes the bundled places without a repair or a refusal", async () => {
    const { database, state } = workplace();
    const report = await pull({
      from: bundledPlaces,
      database,
      force: false,
      about: {},
      onProgress: () => {},
    });
    expect(report).toMatchObject({ read: 118, places: 118, before: 0, repaired: {}, refused: {} });
    expect(report.provenance.attribution).toContain("118 places");
    expect(report.provenance.date).toBe("2026-11-20T00:00:00Z");
    expect(state()).toMatchObject({ count: 118, about: report.provenance });
  });

  test("counts what it repaired, and lists what it refused with the reason", async () => {
    const { pullRecords } = workplace();
    const report = await pullRecords([
      ...rawMany(3),
      raw(4, { name: "????" }),
      raw(5, { name: "" }),
      raw(3, { name: "Again" }),
      raw(6, { latitude: "?" }),
      "text",
    ]);
    expect(report).toMatchObject({
      read: 8,
      places: 5,
      repaired: { "name missing": 2 },
      refused: { "repeated id": 1, "bad coordinates": 1, "not a record": 1 },
    });
    expect(report.refusals).toEqual([
      { reason: "repeated id", record: "3 Again" },
      { reason: "bad coordinates", record: '{"id":6,"name":"Orri 6"}' },
      { reason: "not a record", record: '"text"' },
    ]);
  });

  test("takes what it is told of the data over what the source says, and cleans it", async () => {
    const { pullRecords, state } = workplace();
    const collection = {
      title: "A",
      attribution: "B",
      license: "C",
      timeStamp: "2020-01-01",
      features: rawMany(1),
    };
    await pullRecords(collection, { about: { title: " T\u0000\n1 ", date: "2026-02-03T01:00:00.5+01:00" } });
    expect(state().about).toEqual({
      title: "T 1",
      attribution: "B",
      license: "C",
      date: "2026-02-03T00:00:00Z",
    });
  });

  test.each(["yesterday", "20 Nov 2026", "2026-02-30", "+012026-01-01T00:00:00Z"])(
    "refuses the date %s, and leaves the old places",
    async (date) => {
      const { pullRecords, state } = workplace();
      await pullRecords(rawMany(3));
      const before = state();
      await expect(pullRecords(rawMany(4), { about: { date } })).rejects.toMatchObject({ code: "usage" });
      expect(state()).toEqual(before);
    },
  );

  test.each([
    ["2026-02-03", "2026-02-03T00:00:00Z"],
    ["2026-02-03T00:30", "2026-02-03T00:30:00Z"],
    ["2026-02-03 00:30:15", "2026-02-03T00:30:15Z"],
    ["2026-02-03T00:30:15.9+01:00", "2026-02-02T23:30:15Z"],
  ])("reads the date %s as %s, in whatever time zone the machine is", async (date, moment) => {
    const { database, pullRecords, state } = workplace();
    await pullRecords(rawMany(3), { about: { date: "2020-01-01" } });
    const from = join(dirname(database), "in.json");
    for (const TZ of ["Europe/Paris", "America/Lima"]) {
      const { code } = await runCli(["pull", "--from", from, "--database", database, "--date", date], {
        env: { TZ },
      });
      expect(code).toBe(0);
      expect(state().about.date).toBe(moment);
    }
  });

  test("takes a blank for nothing said: who reads the files learns that no licence is known", async () => {
    const { pullRecords, state } = workplace();
    const collection = {
      title: " ",
      attribution: "",
      license: "\u0000",
      timeStamp: "2020-01-01",
      features: [],
    };
    await pullRecords(collection, { force: true, about: { title: "" } });
    expect(state().about).toEqual({
      title: "Mountain shelters",
      attribution: "Unknown source.",
      license: expect.stringMatching(/^No licence is known/),
      date: "2020-01-01T00:00:00Z",
    });
  });
});

describe("a pull that would make things worse", () => {
  const good = rawMany(100, (id) => (id === 1 ? { region: "Aragon" } : id === 2 ? { type_lieu: 7 } : {}));
  const bad = (count: number) => (id: number) => ({
    ...good[id - 1],
    ...(id > 100 - count && { latitude: 999 }),
  });
  const cases: readonly (readonly [string, unknown, ErrorCode, RegExp])[] = [
    ["holds nothing", [], "refused", /no usable place \(0 records/],
    ["holds nothing usable", [{}, {}], "refused", /no usable place \(2 records/],
    ["has 6 % of unusable records", rawMany(100, bad(6)), "refused", /6 of 100 records are unusable/],
    ["has lost 6 % of the places", good.slice(0, 94), "refused", /94 places where 100 were known/],
    [
      "has lost a region",
      good.map((record) => ({ ...record, region: "Andorre" })),
      "refused",
      /region Aragon/,
    ],
    ["has lost a category", good.map((record) => ({ ...record, type_lieu: 4 })), "refused", /category 7/],
    ["is no list", { error: "down" }, "source", /neither a JSON array/],
  ];

  test.each(cases)(
    "because the source %s is refused, and the old places stay",
    async (_name, records, code, text) => {
      const { pullRecords, state } = workplace();
      await pullRecords(good);
      const before = state();
      await expect(pullRecords(records)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(text),
      });
      expect(state()).toEqual(before);
    },
  );

  test.each(cases.filter(([, , code]) => code === "refused"))(
    "because the source %s is done with --force",
    async (_name, records) => {
      const { pullRecords, state } = workplace();
      await pullRecords(good);
      const report = await pullRecords(records, { force: true });
      expect(state().count).toBe(report.places);
    },
  );

  test("by no more than 5 % is done", async () => {
    const { pullRecords, state } = workplace();
    await pullRecords(good);
    expect(await pullRecords(rawMany(100, bad(5)))).toMatchObject({ places: 95, before: 100 });
    expect(state().count).toBe(95);
  });

  test("in a small file may have three unusable records, and not four", async () => {
    const spoilt = (count: number) => rawMany(10, (id) => (id <= count ? { longitude: null } : {}));
    await expect(workplace().pullRecords(spoilt(3))).resolves.toMatchObject({ places: 7 });
    await expect(workplace().pullRecords(spoilt(4))).rejects.toMatchObject({
      code: "refused",
      details: expect.arrayContaining([expect.stringContaining("bad coordinates")]),
    });
  });

  test("because another one is at work is refused as busy", async () => {
    const { database, pullRecords, state } = workplace();
    await pullRecords(good);
    const store = openStore(database);
    const replacement = store.replace();
    await expect(pullRecords(good)).rejects.toMatchObject({ code: "busy" });
    replacement.abandon();
    store.close();
    expect(state().count).toBe(100);
  });
});
