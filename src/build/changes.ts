/**
 * `changes/` of a release: how a copy of an older state catches up without taking everything again, and what is new for
 * people. Every time in it is that of the data: the same database gives the same bytes.
 */

import { type WrittenFile, writeText } from "../bytes/written.js";
import { geojson } from "../formats/geojson.js";
import type { Place, Provenance } from "../place.js";
import type { Change } from "../store/difference.js";
import type { Step } from "../store/history.js";
import type { Store } from "../store/store.js";
import { feedText } from "./feed.js";

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
