/** `changes/feed.atom` (RFC 4287): what is new, changed and gone, for people. */

import { createHash } from "node:crypto";
import { geojson } from "../formats/geojson.js";
import { extraText } from "../formats/properties.js";
import { escapeXml, webAddress } from "../formats/xml.js";
import type { Json } from "../place.js";
import type { Change } from "../store/difference.js";
import type { Step } from "../store/history.js";
import type { Store } from "../store/store.js";

const limits = {
  entries: 100, // of the feed
  value: 80, // characters of a value in the feed
} as const;

/** The latest changes, the newest first; of one state those that a hiker must know come first: what is gone. */
export function feedText(steps: readonly Step[], store: Pick<Store, "changes" | "provenance">): string {
  const { title, attribution, license, date } = store.provenance();
  const entries: string[] = [];
  for (const step of steps.slice(1).reverse()) {
    for (const change of goneFirst(store.changes(step.number))) {
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

/** A feed that is full cuts off what comes last. */
function goneFirst(changes: readonly Change[]): Change[] {
  return [...changes.filter(({ place }) => place === null), ...changes.filter(({ place }) => place !== null)];
}

function entryText({ number, content, provenance }: Step, change: Change): string {
  const { id, name, former, place } = change;
  const kind = place === null ? "Removed" : former === null ? "New" : "Changed";
  const where = place === null ? null : webAddress(place.url);
  // The same places may come back: what makes an entry another one is the step, not only the state it leads to.
  return `<entry>
<id>${uuidOf(`${number} ${content} ${id}`)}</id>
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
