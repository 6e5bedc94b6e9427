import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Place } from "../src/place.js";
import { type PullOptions, pull } from "../src/pull/pull.js";
import { temporaryFolder } from "./setup/folders.js";
import { stored } from "./setup/stored.js";
import {
  type Feature,
  REGIONS,
  startUpstream,
  type TruePlace,
  type Upstream,
  type UpstreamOptions,
} from "./setup/upstream.js";

let database: string;
let upstream: Upstream | undefined;

beforeEach(() => {
  database = join(temporaryFolder(), "places.sqlite");
});
afterEach(() => upstream?.close());

async function start(options?: UpstreamOptions): Promise<Upstream> {
  upstream = await startUpstream(options);
  return upstream;
}

function pullFrom(service: Upstream, options: Partial<PullOptions> = {}) {
  return pull({
    from: service.address,
    database,
    force: false,
    about: {},
    onProgress: () => {},
    limits: { pause: 1 },
    ...options,
  });
}

const places = (): Map<number, Place> =>
  stored(database, (store) => new Map([...store.places()].map((place) => [place.id, place])));

/** The comment that a person typed, from how the service keeps it. */
function decoded({ comment }: TruePlace): string {
  return comment
    .replaceAll("&quot;", '"')
    .replaceAll("&#176;", "°")
    .replaceAll("\\'", "'")
    .replaceAll("\r\n", "\n");
}

describe("a pull from the known service", () => {
  test("gives every place its region, category, id and own comment, whatever the answers hide", async () => {
    const service = await start();
    const report = await pullFrom(service);
    const found = places();
    expect(report.places).toBe(1600);
    expect(report.refused).toEqual({});
    expect([...found.keys()].sort((a, b) => a - b)).toEqual(service.places.map(({ id }) => id));
    for (const truth of service.places) {
      const place = found.get(truth.id);
      expect(place).toMatchObject({
        id: truth.id,
        name: truth.name.trim(),
        lon: truth.lon,
        lat: truth.lat,
        category: truth.category,
        comment: decoded(truth),
        commune: truth.commune,
        altitudeText: truth.altitude === "" ? null : truth.altitude,
        summerText: truth.summer,
        winterText: truth.winter,
        photo: truth.photo === "" ? "refugesansphoto.jpg" : truth.photo,
      });
      if (truth.regions.length === 1) expect(place?.region).toBe(truth.regions[0]);
      else if (truth.regions.length === 0) expect(place?.region).toBeNull();
      else expect(truth.regions).toContain(place?.region);
    }
  });

  test("reports by id what is in no region, in two, or named another category", async () => {
    const service = await start({ count: 900 });
    const { warnings } = await pullFrom(service);
    const idsOf = (words: string) => warnings.find(({ text }) => text.includes(words))?.ids;
    expect(idsOf("none of the regions")).toEqual([7, 407, 807]);
    expect(idsOf("more than one region")).toEqual([9, 509]);
    expect(idsOf("names another category")).toEqual(
      service.places.filter(({ id }) => id % 90 === 3 || id % 300 === 4).map(({ id }) => id),
    );
    // 3 in none and 2 in two: the sum of the regions is not the total, which is a warning of its own.
    expect(idsOf("the regions have 899 places together, everything at once has 900")).toEqual([7, 407, 807]);
    expect(warnings).toHaveLength(4);
  });

  test("puts a place of two regions where its nearest neighbour is", async () => {
    const service = await start({ count: 40 });
    const [first, second, third] = service.places as [TruePlace, TruePlace, TruePlace];
    service.places = [
      { ...first, regions: ["Aragon"], lon: 0, lat: 42.7 },
      { ...second, regions: ["Occitanie"], lon: 0.5, lat: 42.7 },
      { ...third, regions: ["Aragon", "Occitanie"], lon: 0.4, lat: 42.7 },
    ];
    await pullFrom(service);
    expect(places().get(third.id)?.region).toBe("Occitanie");
  });

  test("keeps the text that the service sent, key for key", async () => {
    const service = await start({ count: 30 });
    await pullFrom(service);
    const [truth] = service.places as [TruePlace];
    const raw = stored(database, (store) => store.upstream(truth.id)) as Feature;
    expect(Object.keys(raw.properties)).toEqual(
      "name url descriptif commentaire photo region altitude cap_ete cap_hiver type_hebergement".split(" "),
    );
    expect(raw.properties["name"]).toBe(truth.name);
  });

  test("counts every repair, and leaves out those it is told to leave out", async () => {
    const service = await start({ count: 60 });
    const repaired = (await pullFrom(service)).repaired;
    expect(repaired["comment repeated"]).toBeGreaterThan(5);
    expect(repaired["entities decoded"]).toBeGreaterThan(20);
    expect(repaired["number read from text"]).toBeGreaterThan(20);
    expect(repaired["photo missing"]).toBe(service.places.filter(({ photo }) => photo === "").length);
    const raw = (
      await pullFrom(service, { without: new Set(["comments", "entities", "numbers", "photo"] as const) })
    ).repaired;
    expect(Object.keys(raw).filter((repair) => /comment|entities|number|photo|markup/.test(repair))).toEqual(
      [],
    );
    expect([...places().values()].some(({ comment }) => comment.includes("&quot;"))).toBe(true);
  });

  test("takes markup out of names", async () => {
    const service = await start({ count: 20 });
    service.edit = ({ properties }) => {
      properties["name"] = `<b>${properties["name"]}</b><script>x</script>`;
    };
    const { repaired } = await pullFrom(service);
    expect(repaired["markup removed"]).toBe(20);
    for (const place of places().values()) expect(place.name).not.toMatch(/[<>]/);
  });

  test("asks for each region, each category, and everything, over one connection and in its own name", async () => {
    const service = await start({ count: 1599 });
    await pullFrom(service, { contact: "https://example.org/about" });
    const regions = service.requests.map((request) =>
      new URL(request, service.address).searchParams.get("region"),
    );
    expect(regions.filter((region) => region !== null)).toEqual(REGIONS);
    const kinds = service.requests.map((request) =>
      new URL(request, service.address).searchParams.get("type_lieu"),
    );
    expect(kinds.filter((kind) => kind !== null).sort()).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
    expect(service.mostConnections()).toBe(1);
    expect([...service.userAgents]).toEqual([
      expect.stringMatching(/^mountain-shelters\/\S+ \(\+https:\/\/example\.org\/about\)$/),
    ]);
  });

  test("takes the category from the record where the service knows no requests for categories", async () => {
    const service = await start({ count: 401, knowsCategories: false });
    await pullFrom(service);
    expect(service.requests.filter((request) => request.includes("type_lieu"))).toHaveLength(1);
    const found = places();
    for (const { id, slug, category } of service.places) {
      if (slug === "") expect(found.get(id)?.category).toBeNull();
      else if (id % 300 !== 4) expect(found.get(id)?.category).toBe(category);
    }
  });

  test("says so when the service does not know regions, and invents none", async () => {
    const service = await start({ count: 50, knowsRegions: false });
    const { warnings } = await pullFrom(service);
    expect(warnings[0]?.text).toMatch(/does not know regions/);
    for (const place of places().values()) expect(place.region).toBeNull();
  });

  test("asks for the regions it is given, and with auto for those that have places", async () => {
    const service = await start({ count: 300 });
    const given = await pullFrom(service, { regions: ["Aragon", "Elsewhere"] });
    expect(given.groups.map(({ region }) => region)).toContain("Aragon");
    expect(given.warnings.some(({ text }) => text === "the source has no place in Elsewhere")).toBe(true);
    const auto = await pullFrom(service, { regions: "auto", force: true });
    expect(new Set(auto.groups.map(({ region }) => region))).toEqual(new Set([...REGIONS, null]));
  });

  test.each([
    ["pages of 70", { cap: 70, knowsPages: true }],
    ["pages of 100 that do not say so", { cap: 100, knowsPages: true }],
    ["the same page for every offset", { cap: 200, knowsPages: false }],
  ])("ends with %s", async (name, options) => {
    const service = await start({ count: 350, ...options });
    const sendLinks = name.includes("70");
    if (sendLinks)
      service.always = (request, response) => {
        const offset = Number(new URL(request.url ?? "", service.address).searchParams.get("offset") ?? 0);
        if (offset < 350) response.setHeader("Link", '<?next>; rel="next"');
        return true;
      };
    const report = await pullFrom(service, { regions: ["Aragon"] });
    // Where the whole is cut, the regions and categories bring what it lacks, and the report says so.
    expect(report.places).toBe(350);
    const lacking = report.warnings.find(({ text }) => text.includes("not when everything was asked for"));
    expect(lacking?.ids.length).toBe(name.startsWith("the same") ? 150 : undefined);
  });

  test("asks again where a page is missing that the service says it has, and takes no count that is none", async () => {
    const service = await start({ count: 250, cap: 100, knowsPages: true });
    let lost = 0;
    service.always = (request, response) => {
      const { searchParams } = new URL(request.url ?? "", service.address);
      const isWhole = !searchParams.has("region") && !searchParams.has("type_lieu");
      response.setHeader("OGC-NumberMatched", isWhole ? "250" : "");
      if (!isWhole || searchParams.get("offset") !== "200" || lost++ > 0) return true;
      response.end('{"type":"FeatureCollection","features":[]}');
      return undefined;
    };
    const report = await pullFrom(service, { regions: ["Aragon"] });
    expect(report.places).toBe(250);
    expect(report.warnings.map(({ text }) => text)).not.toContainEqual(
      expect.stringContaining("everything was"),
    );
  });

  test.each(["gzip", "br"] as const)("reads %s", async (coding) => {
    const service = await start({ count: 30, coding });
    expect((await pullFrom(service)).places).toBe(30);
  });
});

describe("a second pull", () => {
  test("of an unchanged service costs 304s only and leaves the database as it is", async () => {
    const service = await start({ count: 200, sendsValidators: true });
    await pullFrom(service);
    const before = stored(database, (store) => [store.contentHash(), store.provenance(), store.steps()]);
    service.statuses.length = 0;
    const report = await pullFrom(service);
    expect(report.unchanged).toBe(true);
    expect(new Set(service.statuses)).toEqual(new Set([304]));
    expect(stored(database, (store) => [store.contentHash(), store.provenance(), store.steps()])).toEqual(
      before,
    );
  });

  test("asks without conditions after other options or with force", async () => {
    const service = await start({ count: 30, sendsValidators: true });
    await pullFrom(service);
    expect((await pullFrom(service, { regions: ["Aragon"], force: true })).unchanged).toBe(false);
    expect((await pullFrom(service, { regions: ["Aragon"], about: { title: "Other" } })).unchanged).toBe(
      false,
    );
  });

  test("of the same places keeps the date of the data, so that a release stays the same", async () => {
    const service = await start({ count: 30 });
    await pullFrom(service);
    const before = stored(database, (store) => store.provenance());
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const report = await pullFrom(service);
    expect(report.difference).toMatchObject({ added: 0, changed: 0, removed: 0 });
    expect(stored(database, (store) => store.provenance())).toEqual(before);
  });

  test("tells what was added, changed and removed, and remembers it", async () => {
    const service = await start({ count: 100 });
    const first = await pullFrom(service);
    expect(first.difference).toMatchObject({ added: 100, changed: 0, removed: 0 });
    service.places = service.places
      .filter(({ id }) => id !== 11)
      .map((place) => (place.id === 12 ? { ...place, altitude: "1999" } : place))
      .concat({ ...(service.places[0] as TruePlace), id: 101 });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { difference, provenance } = await pullFrom(service);
    expect(difference).toEqual({
      added: 1,
      changed: 1,
      removed: 1,
      list: [
        { id: 12, name: expect.any(String), what: expect.stringMatching(/^changed: altitude/) },
        { id: 101, name: expect.any(String), what: "added" },
        { id: 11, name: expect.any(String), what: "removed" },
      ],
    });
    const history = stored(database, (store) => new Map([...store.history()].map((one) => [one.id, one])));
    expect(history.size).toBe(101);
    expect(history.get(1)).toEqual({
      id: 1,
      firstSeen: first.provenance.date,
      lastChanged: first.provenance.date,
      removed: null,
      changed: [],
    });
    expect(history.get(11)).toMatchObject({ firstSeen: first.provenance.date, removed: provenance.date });
    expect(history.get(12)?.changed).toContain("altitude");
    expect(history.get(101)).toMatchObject({ firstSeen: provenance.date });
    expect(stored(database, (store) => store.lastPull().report)).toMatchObject({
      places: 100,
      difference: { added: 1 },
    });
  });

  test("that loses more than 5 %, a region or a category is refused, unless it is forced", async () => {
    const service = await start({ count: 400 });
    await pullFrom(service);
    const all = service.places;
    for (const [left, message] of [
      [all.filter(({ id }) => id > 40), /more than 5 %/],
      [all.filter(({ regions }) => regions[0] !== "Navarre"), /region Navarre/],
    ] as const) {
      service.places = [...left];
      await expect(pullFrom(service)).rejects.toMatchObject({
        code: "refused",
        message: expect.stringMatching(message),
      });
      expect(places().size).toBe(400);
    }
    expect((await pullFrom(service, { force: true })).difference.removed).toBe(
      all.filter(({ regions }) => regions[0] === "Navarre").length,
    );
  });
});
