/** What `publish` put to a target, kept beside it: nothing else is ever overwritten or removed there. */

import { UserError } from "./errors.js";
import { formsOf, MANIFEST, type Manifest, parseManifest } from "./manifest.js";
import type { Target } from "./targets/target.js";

export const INVENTORY = ".shelters-publish.json";

export interface InventoryEntry {
  readonly sha256: string;
  /** Headers it was put with. */
  readonly settings: string;
  /** The target's mark of what was put; null while it is being put. */
  readonly mark: string | null;
  /** Since when no manifest names it, ISO 8601; null while one does. */
  readonly unneededSince: string | null;
}

export type Inventory = Map<string, InventoryEntry>;

/** The inventory of a target; where there is none, what the manifest there names. Empty for a new target. */
export async function readInventory(
  target: Target,
  found: ReadonlyMap<string, string>,
  manifest: Manifest | null,
): Promise<Inventory> {
  const bytes = found.has(INVENTORY) ? await target.read(INVENTORY) : null;
  if (bytes !== null) return parseInventory(bytes, target.title);
  if (manifest === null) return new Map();
  const named = [...formsOf(manifest), ...manifest.files.filter(({ hostOnly }) => hostOnly)];
  const paths = [...named.map(({ path }) => path), MANIFEST, `${MANIFEST}.gz`, `${MANIFEST}.br`];
  // Copied by another tool: ours, but with headers that nobody knows.
  return new Map(
    paths
      .filter((path) => found.has(path))
      .map((path) => [
        path,
        { sha256: "", settings: "", mark: found.get(path) ?? null, unneededSince: null },
      ]),
  );
}

/** The manifest at a target; null where there is none that can be read. */
export async function publishedManifest(
  target: Target,
  found: ReadonlyMap<string, string>,
): Promise<Manifest | null> {
  const bytes = found.has(MANIFEST) ? await target.read(MANIFEST) : null;
  if (bytes === null) return null;
  try {
    return parseManifest(bytes, `${MANIFEST} of ${target.title}`);
  } catch (error) {
    if (error instanceof UserError) return null; // not a release: its files are foreign
    throw error;
  }
}

/** Writes the inventory to its target. */
export async function writeInventory(target: Target, inventory: Inventory): Promise<void> {
  const objects = Object.fromEntries([...inventory].sort(([a], [b]) => (a < b ? -1 : 1)));
  await target.note(INVENTORY, Buffer.from(`${JSON.stringify({ version: 1, objects })}\n`));
}

function parseInventory(bytes: Buffer, title: string): Inventory {
  try {
    const { version, objects } = JSON.parse(bytes.toString("utf8")) as {
      readonly version: number;
      readonly objects: Readonly<Record<string, InventoryEntry>>;
    };
    if (version === 1) return new Map(Object.entries(objects));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  const advice =
    "Remove it to take what the manifest there names as published by this program, and run again.";
  throw new UserError("damaged", `${INVENTORY} of ${title} is damaged or of another version. ${advice}`);
}
