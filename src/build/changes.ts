/**
 * `changes/` of a release: how a copy of an older state catches up without taking everything again, and what is new for
 * people. Every time in it is that of the data: the same database gives the same bytes.
 */

import { createHash } from "node:crypto";
import { type WrittenFile, writeText } from "../bytes/written.js";
import { geojson } from "../formats/geojson.js";
import { extraText } from "../formats/properties.js";
import { escapeXml } from "../formats/xml.js";
import type { Json, Place, Provenance } from "../place.js";
import type { Change } from "../store/difference.js";
import type { Step } from "../store/history.js";
import type { Store } from "../store/store.js";

const limits = {
  entries: 100, // of the feed
  value: 80, // characters of a value in the feed
} as const;

/** Writes index, steps and feed below `folder`; `generationAt` names a state as this program does. */
export function writeChanges(
  folder: string,
  store: Pick<Store, "steps" | "changes" | "provenance">,
  generationAt: (content: string, provenance: Provenance) => string,
): WrittenFile[] {
  const steps = store.steps();
  const files: WrittenFile[] = [];
  const write = (path: string, mediaType: string, text: string): void => {
    files.push(writeText(folder, path, mediaType, text));
  };
  const listed = steps.map((step, index) => {
    const { number, content, provenance, places, size } = step;
    const entry = { number, generation: generationAt(content, provenance), content, places, provenance };
    if (index === 0) return entry; // where catching up begins: there is nothing to apply
    const path = stepPath(step);
    write(path, "application/json", stepText(step, store.changes(number)));
    return { ...entry, changes: size, path };
  });
  write("changes/index.json", "application/json", `${JSON.stringify({ steps: listed }, null, 1)}\n`);
  write("changes/feed.atom", "application/atom+xml; charset=utf-8", feedText(steps, store));
  return files;
}

/** A step's file never changes, so its name says what it leads to. */
function stepPath({ number, content }: Step): string {
  return `changes/${number}-${content.slice(0, 16)}.json`;
}

/** One change a line. `former` holds the values that differ, as they were; null for a place that is new. */
function stepText({ number, content, provenance }: Step, changes: readonly Change[]): string {
  const upserts = changes
    .filter(({ place }) => place !== null)
    .map(
      ({ former, place }) =>
        `{"former":${JSON.stringify(former)},"feature":${geojson.place(place as Place)}}`,
    );
  const removed = changes
    .filter(({ place }) => place === null)
    .map(({ id, name }) => JSON.stringify({ id, name }));
  const head = JSON.stringify({ number, content, provenance });
  return `${head.slice(0, -1)},"upserts":[${lines(upserts)}],"removed":[${lines(removed)}]}\n`;
}

function lines(items: readonly string[]): string {
  return items.length === 0 ? "" : `\n${items.join(",\n")}\n`;
}

/** Atom, RFC 4287: the latest changes, the newest first. */
function feedText(steps: readonly Step[], store: Pick<Store, "changes" | "provenance">): string {
  const { title, attribution, license, date } = store.provenance();
  const entries: string[] = [];
  for (const step of steps.slice(1).reverse()) {
    for (const change of store.changes(step.number)) {
      if (entries.length < limits.entries) entries.push(entryText(step, change));
    }
  }
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${uuidOf(`feed ${title}`)}</id>
<title>${escapeXml(title)}</title>
<subtitle>New, changed and removed places</subtitle>
<updated>${date}</updated>
<author><name>${escapeXml(attribution)}</name></author>
<rights>${escapeXml(license)}</rights>
<link rel="self" href="feed.atom" type="application/atom+xml"/>
<link rel="alternate" href="../index.html" type="text/html"/>
${entries.map((entry) => `${entry}\n`).join("")}</feed>
`;
}

function entryText({ content, provenance }: Step, change: Change): string {
  const { id, name, former, place } = change;
  const kind = place === null ? "Removed" : former === null ? "New" : "Changed";
  const where = place?.url.startsWith("http") ? place.url : null;
  return `<entry>
<id>${uuidOf(`${content} ${id}`)}</id>
<title>${kind}: ${escapeXml(name)}</title>
<updated>${provenance.date}</updated>
<link rel="alternate" href="${escapeXml(where ?? "../index.html")}"/>
<content type="text">${escapeXml(describe(change))}</content>
</entry>`;
}

/** A line for each value that differs: as it was, and as it is. */
function describe({ id, name, former, place }: Change): string {
  if (place === null) return `${name} (${id}) is not in the source any more.`;
  const feature = JSON.parse(geojson.place(place)) as { properties: Record<string, Json> };
  const now: Record<string, Json> = { ...feature.properties, longitude: place.lon, latitude: place.lat };
  if (former === null)
    return [place.name, place.region, place.commune]
      .filter((text) => text !== null && text !== "")
      .join(", ");
  return Object.entries(former)
    .map(([key, value]) => `${key}: ${short(value)} → ${short(now[key] ?? null)}`)
    .join("\n");
}

function short(value: Json): string {
  const text = extraText(value);
  return text === ""
    ? "–"
    : text.length > limits.value
      ? `${text.slice(0, limits.value).toWellFormed()}…`
      : text;
}

/** A name that is the same wherever it is made: RFC 9562, version 8. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
