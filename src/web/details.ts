/** The full record of a place: from the endpoint where there is one, else from the smallest file that holds it. */

import { isOnDisk, loadExport } from "./data.js";
import { type PageFacts, type PlaceEntry, packPath } from "./model.js";

export type PlaceRecord = Readonly<Record<string, unknown>>;

const known = new Map<number, PlaceRecord>();

/** The record as JSON exports hold it; null where nothing answers. */
export async function loadRecord(facts: PageFacts, place: PlaceEntry): Promise<PlaceRecord | null> {
  const remembered = known.get(place.id);
  if (remembered !== undefined) return remembered;
  if (isOnDisk()) {
    const { features } = await loadExport(facts, null);
    return features.find(({ properties }) => properties["id"] === place.id)?.properties ?? null;
  }
  const point = `${place.lon},${place.lat},${place.lon},${place.lat}`;
  const addresses = [
    `api.php?format=json&bbox=${point}`,
    packPath(facts, place.region, place.category, "json"),
  ];
  for (const address of addresses) {
    const records = await getRecords(address);
    const found = records.find((record) => record["id"] === place.id);
    if (found === undefined) continue;
    known.set(place.id, found);
    return found;
  }
  return null;
}

/** Empty for whatever is no array: a static host may answer `api.php` with a page. */
async function getRecords(address: string): Promise<readonly PlaceRecord[]> {
  try {
    const answer = await fetch(address);
    const value: unknown = answer.ok ? await answer.json() : [];
    return Array.isArray(value) ? (value as PlaceRecord[]) : [];
  } catch {
    return [];
  }
}
