/** A release of this program as a source: its records name their region and category, its manifest their origin, its `changes/` their history. */

import type { Provenance } from "../place.js";
import type { Requests } from "./ask.js";
import { SourceChanged } from "./ask.js";
import { readCollection } from "./page.js";
import type { Pages } from "./pages.js";
import { pickProvenance } from "./provenance.js";
import type { InheritedStep, Origin, SourceItem } from "./source.js";

/** Every record, then what the release says of where they came from. */
export async function* inherit(_address: URL, pages: Pages, requests: Requests): AsyncGenerator<SourceItem> {
  const manifest = await readJson(requests, "manifest.json");
  const [first] = pages.list();
  if (manifest !== null && manifest["generation"] !== first?.generation)
    throw new SourceChanged("the manifest is of another generation than the places");
  const steps = manifest === null ? [] : await readSteps(requests, manifest);
  for (const page of pages.list()) {
    const { features, members } = readCollection(pages.body(page));
    yield { about: pickProvenance(members) };
    for (const record of features) yield { record };
  }
  yield { inherited: { origin: manifest === null ? null : readOrigin(manifest), steps } };
}

type Members = Readonly<Record<string, unknown>>;

async function readJson(requests: Requests, path: string): Promise<Members | null> {
  const body = await requests.file(path);
  try {
    const value: unknown = body === null ? null : JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Members) : null;
  } catch {
    return null; // history and origin are good to have; the places do not depend on them
  }
}

function readOrigin(manifest: Members): Origin | null {
  const { source, pulledAt, pulled } = manifest;
  if (
    typeof source !== "string" ||
    typeof pulledAt !== "string" ||
    typeof pulled !== "object" ||
    pulled === null
  )
    return null;
  return { source, pulledAt, pulled: pulled as Origin["pulled"] };
}

async function readSteps(requests: Requests, manifest: Members): Promise<InheritedStep[]> {
  const files = Array.isArray(manifest["files"]) ? (manifest["files"] as Members[]) : [];
  if (!files.some((file) => file?.["path"] === "changes/index.json")) return [];
  const index = await readJson(requests, "changes/index.json");
  const listed = Array.isArray(index?.["steps"]) ? (index["steps"] as Members[]) : [];
  const steps: InheritedStep[] = [];
  for (const { number, content, provenance, places, path } of listed) {
    const file = typeof path === "string" ? await readJson(requests, path) : null;
    if (typeof path === "string" && file === null) return [];
    steps.push({
      number: Number(number),
      content: String(content),
      provenance: provenance as Provenance,
      places: Number(places),
      upserts: (file?.["upserts"] ?? []) as InheritedStep["upserts"],
      removed: (file?.["removed"] ?? []) as InheritedStep["removed"],
    });
  }
  return steps;
}
