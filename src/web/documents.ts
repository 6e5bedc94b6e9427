/** A document of what the visitor sees: from the endpoint, or cut here where none answers. The bytes are the same. */

import type { BBox } from "../place.js";
import { cutDocument } from "./cut.js";
import { isOnDisk, loadExport } from "./data.js";
import { type FormatName, formats } from "./formats.js";
import { type Choice, entryOf, matcher, type PageFacts, type PlaceEntry, singleCategory } from "./model.js";

export interface Scope {
  readonly facts: PageFacts;
  readonly places: readonly PlaceEntry[];
  readonly choice: Choice;
  /** null = not narrowed to what the map shows. */
  readonly box: BBox | null;
}

const MOST_PER_ANSWER = 20_000;

/** The document of a scope. Throws Error in words where neither the endpoint nor a file answers. */
export async function documentOf(scope: Scope, format: FormatName, count: number): Promise<Blob> {
  const category = singleCategory(scope.choice);
  const canAsk = category !== "several" && scope.choice.search.trim() === "" && count <= MOST_PER_ANSWER;
  return (canAsk ? await askEndpoint(scope, format) : null) ?? (await cutHere(scope, format));
}

/** Address of the endpoint's answer; edges are shortened to a centimetre. */
export function endpointAddress({ choice, box }: Scope, format: FormatName): string {
  const asked = new URLSearchParams({ format, limit: String(MOST_PER_ANSWER) });
  if (box !== null) asked.set("bbox", edges(box).join(","));
  const category = singleCategory(choice);
  if (typeof category === "number") asked.set("type_lieu", String(category));
  if (choice.region !== null) asked.set("region", choice.region);
  return `api.php?${asked}`;
}

function edges({ west, south, east, north }: BBox): number[] {
  return [west, south, east, north].map((edge) => Number(edge.toFixed(7)));
}

/** null where no endpoint of ours answers: a static host has none, or answers with a page of its own. */
async function askEndpoint(scope: Scope, format: FormatName): Promise<Blob | null> {
  if (isOnDisk()) return null;
  try {
    const answer = await fetch(endpointAddress(scope, format));
    const isOurs = answer.ok && answer.headers.has("OGC-NumberMatched");
    return isOurs ? await answer.blob() : null;
  } catch {
    return null;
  }
}

async function cutHere({ facts, choice, box }: Scope, format: FormatName): Promise<Blob> {
  const whole = await loadExport(facts, choice.region);
  const category = singleCategory(choice);
  const [west = -180, south = -90, east = 180, north = 90] = box === null ? [] : edges(box);
  const query = {
    format,
    bbox: box === null ? null : { west, south, east, north },
    region: choice.region,
    category: typeof category === "number" ? category : null,
  };
  const isChosen = matcher(choice);
  const cut = cutDocument(whole, facts.extraKeys, query, (place) => isChosen(entryOf(place)));
  return new Blob([cut.text], { type: formats[format].mediaType });
}
