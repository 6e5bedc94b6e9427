import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { feedText } from "../src/build/feed.js";
import { temporaryFolder } from "./setup/folders.js";
import { pullRecords } from "./setup/release.js";
import { stored } from "./setup/stored.js";
import { hasPythonModule, python } from "./setup/system.js";
import { textsOf, unescapeXml, xmlFaults } from "./setup/xml.js";

const hut = (id: number, more: object = {}): object => ({
  id,
  name: `Hut <${id}> & "Ò" 🏚`,
  longitude: id / 1000,
  latitude: 42.6,
  type_lieu: 2,
  region: "Aragon",
  url: `https://example.org/huts?a=[1]&id=${id}`,
  ...more,
});
const all = [1, 2, 3, 4].map((id) => hut(id));
const without2 = all.filter((_, index) => index !== 1);

/** One state after another: hut 2 goes, comes back, and goes again; others have addresses that are none. */
const history: readonly (readonly object[])[] = [
  all,
  without2,
  all,
  without2,
  [
    ...without2,
    hut(5, { url: "http://exa mple.org/x y" }),
    hut(6, { url: "httpx://no" }),
    hut(7, { url: "" }),
  ],
];

const feeds: string[] = [];

beforeAll(async () => {
  const database = join(temporaryFolder(), "places.sqlite");
  for (const [day, records] of history.entries()) {
    await pullRecords(database, records, { date: `2026-01-0${day + 1}T10:00:00Z` });
    feeds.push(stored(database, (store) => feedText(store.steps(), store)));
  }
});

const entriesOf = (feed: string): string[] => feed.match(/<entry>[\s\S]*?<\/entry>/g) ?? [];
const headOf = (feed: string): string => feed.split("<entry>")[0] ?? "";
const latest = (): string => feeds.at(-1) ?? "";

describe("the feed, by RFC 4287", () => {
  test("is well-formed XML, with and without entries", async () => {
    expect(entriesOf(feeds[0] ?? "")).toEqual([]);
    expect(entriesOf(latest()).length).toBe(6);
    for (const feed of feeds) expect(await xmlFaults([feed])).toEqual([]);
  });

  test("has one id, title and date, an author for its entries, and one link to itself (4.1.1)", () => {
    for (const feed of feeds) {
      const head = headOf(feed);
      for (const name of ["id", "title", "updated", "subtitle", "rights"])
        expect(textsOf(head, name), name).toHaveLength(1);
      expect(textsOf(head, "name")).toEqual(["Nobody & sons"]);
      expect(head.match(/<link rel="self" /g)).toHaveLength(1);
      expect(head.match(/<link rel="alternate" /g)).toHaveLength(1);
    }
  });

  test("has one id, title, date and text in each entry (4.1.2)", () => {
    for (const entry of entriesOf(latest())) {
      for (const name of ["id", "title", "updated"]) expect(textsOf(entry, name), name).toHaveLength(1);
      expect(entry.match(/<content type="text">[^<]+<\/content>/g)).toHaveLength(1);
      expect(entry.match(/<link rel="alternate" /g)).toHaveLength(1);
    }
  });

  test("gives every entry an id of its own, though the same places come back, and keeps it (4.2.6)", () => {
    const ids = textsOf(latest(), "id");
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    for (const feed of feeds) for (const id of textsOf(feed, "id")) expect(ids).toContain(id);
    expect(textsOf(latest(), "title").filter((title) => title.startsWith("Removed"))).toHaveLength(2);
  });

  test("dates entries by the data, as RFC 3339, the newest first (3.3)", () => {
    const [updated, ...dates] = textsOf(latest(), "updated");
    expect(updated).toBe("2026-01-05T10:00:00Z");
    expect(dates).toEqual([5, 5, 5, 4, 3, 2].map((day) => `2026-01-0${day}T10:00:00Z`));
  });

  test("links to addresses only, relative to itself where the place has none (4.2.7.1)", () => {
    const links = [...latest().matchAll(/ href="([^"]*)"/g)].map(([, href = ""]) => unescapeXml(href));
    for (const link of links)
      expect(link).toMatch(/^([\w./-]+|https?:\/\/[\w.]+\/[\w.~!$&'()*+,;=:@%/?-]*)$/);
    expect(links).toContain("https://example.org/huts?a=%5B1%5D&id=2");
    expect(links.filter((link) => link === "../index.html")).toHaveLength(1 + 3 + 2);
  });

  test("names what is gone before what is new, so that a full feed does not cut it off", async () => {
    const database = join(temporaryFolder(), "places.sqlite");
    const many = Array.from({ length: 400 }, (_, index) => hut(index + 1));
    await pullRecords(database, many);
    const changed = many
      .slice(0, 399)
      .map((place, index) => (index < 150 ? { ...place, altitude_m: 9 } : place));
    await pullRecords(database, changed, { date: "2026-02-01" });
    const entries = stored(database, (store) => entriesOf(feedText(store.steps(), store)));
    expect(entries).toHaveLength(100);
    expect(entries[0]).toContain("<title>Removed: Hut &lt;400&gt;");
  });
});

describe.skipIf(!hasPythonModule("feedparser"))("feedparser", () => {
  test("reads every entry, and has nothing to complain of", () => {
    const path = join(temporaryFolder(), "feed.atom");
    writeFileSync(path, latest());
    const program = `
import feedparser, json, sys
d = feedparser.parse(open(sys.argv[1], "rb").read(), response_headers={"content-type": "application/atom+xml; charset=utf-8", "content-location": "https://example.org/s/changes/feed.atom"})
print(json.dumps({"bozo": bool(d.bozo), "version": d.version, "links": [l.href for l in d.feed.links],
  "entries": [[e.title, e.id, list(e.updated_parsed)[:6], e.link, e.content[0].value] for e in d.entries]}))`;
    const seen = JSON.parse(python(program, path));
    expect(seen).toMatchObject({ bozo: false, version: "atom10" });
    expect(seen.links).toEqual([
      "https://example.org/s/changes/feed.atom",
      "https://example.org/s/index.html",
    ]);
    expect(seen.entries).toHaveLength(6);
    expect(seen.entries[0].slice(0, 3)).toEqual([
      'New: Hut <5> & "Ò" 🏚',
      textsOf(latest(), "id")[1],
      [2026, 1, 5, 10, 0, 0],
    ]);
    expect(seen.entries[3][4]).toBe('Hut <2> & "Ò" 🏚 (2) is not in the source any more.');
  });
});
