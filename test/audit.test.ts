import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createPlaceParser } from "../src/parse.js";
import type { Place } from "../src/place.js";
import { audit, type CheckName, checks, type Finding } from "../src/pull/audit.js";
import { runCli } from "./setup/cli.js";
import { temporaryFolder } from "./setup/folders.js";

interface Facts {
  readonly id: number;
  readonly name?: string;
  readonly longitude?: number;
  readonly latitude?: number;
  readonly altitude_m?: number;
  readonly commune?: string;
  readonly commentaire?: string;
  readonly url?: string;
}

function place(facts: Facts): Place {
  // Far enough apart that places ask no question of each other unless a test puts them together.
  const record = { name: `Hut ${facts.id}`, longitude: facts.id / 10, latitude: 42.6, ...facts };
  const parsed = createPlaceParser()(record);
  if ("refused" in parsed) throw new Error(parsed.refused);
  return parsed.place;
}

function findings(check: CheckName, ...facts: Facts[]): Finding[] {
  return audit(facts.map(place)).filter((finding) => finding.check === check);
}

const METRE_NORTH = 1 / 111_195;
const METRE_EAST = METRE_NORTH / Math.cos((42.6 * Math.PI) / 180);

describe("an audit asks about", () => {
  test("places within 50 m, each pair once, and not about those beyond", () => {
    const at = (metres: number) => ({ longitude: 0.1 + metres * METRE_EAST });
    expect(findings("duplicate", { id: 1 }, { id: 2, ...at(49) })).toEqual([
      expect.objectContaining({ id: 1, other: 2, what: "49 m from 2 Hut 2" }),
    ]);
    expect(findings("duplicate", { id: 1 }, { id: 2, ...at(51) })).toEqual([]);
    expect(findings("duplicate", { id: 1 }, { id: 2, ...at(0) }, { id: 3, ...at(0) })).toHaveLength(3);
  });

  test("positions outside the Pyrenees and next to 0/0", () => {
    const found = findings(
      "position",
      { id: 1 },
      { id: 2, longitude: 6.8, latitude: 45.8 },
      { id: 3, longitude: 0.0001, latitude: 0.0001 },
    );
    expect(found.map(({ id, what }) => [id, what])).toEqual([
      [2, "outside the Pyrenees: 45.8, 6.8"],
      [3, "on 0/0"],
    ]);
  });

  test("an altitude that most neighbours contradict, and one above every summit", () => {
    const around = [100, 200, 300].map((metres, index) => ({
      id: 10 + index,
      longitude: 0.1 + metres * METRE_EAST,
      altitude_m: 1800 + index,
    }));
    const found = findings("altitude", { id: 1, altitude_m: 180 }, ...around, { id: 2, altitude_m: 3500 });
    expect(found.map(({ id }) => id)).toEqual([1, 2]);
    expect(found[0]?.what).toBe("180 m, but 10 Hut 10, 100 m away, is at 1800 m");
    expect(findings("altitude", { id: 1, altitude_m: 1750 }, ...around)).toEqual([]);
  });

  test("two of one name with the shift of ED50 between them, in either direction, and no other", () => {
    const shifted = (sign: number) => ({
      longitude: 0.1 + sign * 97 * METRE_EAST,
      latitude: 42.6 + sign * 120 * METRE_NORTH,
    });
    const one = { id: 1, name: "Refuge de l'Étoile" };
    const twin = { id: 2, name: "Cabane Etoile" };
    expect(findings("datum", one, { ...twin, ...shifted(1) })).toHaveLength(1);
    expect(findings("datum", one, { ...twin, ...shifted(-1) })).toHaveLength(1);
    expect(findings("datum", one, { id: 2, name: "Cabane du Lac", ...shifted(1) })).toEqual([]);
    expect(findings("datum", one, { ...twin, longitude: 0.1 + 160 * METRE_EAST })).toEqual([]);
  });

  test.each(["Refuge Ã©toile", "Refuge â€™", "Refuge \uFFFD", "Refuge ????"])(
    "damaged encodings: %s",
    (name) => {
      expect(findings("encoding", { id: 1, name })).toHaveLength(1);
      expect(findings("encoding", { id: 1, commentaire: `Vu. ${name}` })).toHaveLength(1);
    },
  );

  test("names cut at an accent, and not about a short name or a number", () => {
    expect(findings("cut", { id: 1, commune: "Sallent de G" })).toHaveLength(1);
    expect(
      findings("cut", { id: 1, commune: "Esterri d" }, { id: 2, commune: "Esterri dÀneu" }),
    ).toHaveLength(1);
    for (const name of ["Refuge", "Cabane I", "Abri V", "Été à Ossòs", "Vrai ? Oui !"])
      expect(findings("cut", { id: 1, name }).concat(findings("encoding", { id: 1, name }))).toEqual([]);
  });

  test("nothing where nothing is odd; and every finding has a link", () => {
    expect(audit([place({ id: 1 }), place({ id: 2 })])).toEqual([]);
    const [own] = findings("cut", { id: 1, name: "Sallent de G", url: "https://example.org/?id=1" });
    expect(own?.link).toBe("https://example.org/?id=1");
    expect(findings("cut", { id: 1, name: "Sallent de G" })[0]?.link).toMatch(
      /^https:\/\/www\.openstreetmap\.org\/\?mlat=42\.6&mlon=0\.1/,
    );
  });
});

describe("shelters audit", () => {
  test("prints every check, or --json, and leaves the database byte for byte", async () => {
    const database = join(temporaryFolder(), "places.sqlite");
    expect((await runCli(["pull", "--database", database])).code).toBe(0);
    const before = readFileSync(database);
    const text = await runCli(["audit", "--database", database]);
    expect(text.code).toBe(0);
    for (const [name, what] of Object.entries(checks)) expect(text.stderr).toContain(`${name}: ${what}: `);
    const json = await runCli(["--json", "audit", "--database", database]);
    expect(JSON.parse(json.stdout)).toMatchObject({ places: 118, findings: expect.any(Array) });
    const only = await runCli(["audit", "--only", "cut", "--database", database]);
    expect(only.stderr).not.toContain("duplicate:");
    expect((await runCli(["audit", "--only", "taste", "--database", database])).code).toBe(2);
    expect(readFileSync(database).equals(before)).toBe(true);
  });
});
