/** A folder as a target: the root of a web server, a mounted disk, a checkout of a pages branch. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { UserError } from "../../errors.js";
import { lockFile } from "../../release/swap.js";
import { checkedPieces } from "./checked.js";
import { LOCK, type Target } from "./target.js";

const PIECE = 4 * 1024 * 1024; // bytes in memory per file
const UNFINISHED = ".shelters-upload-"; // in front of the names of files that are being written

/** Opens a folder; it is made at the first write. Throws UserError `usage` when it is the release itself or holds it. */
export function openFolder(path: string, site: string): Target {
  const root = resolve(path);
  for (const [inner, outer] of [
    [root, resolve(site)],
    [resolve(site), root],
  ] as const)
    if (inner === outer || inner.startsWith(outer + sep))
      throw new UserError("usage", `${path} and the release ${site} are one inside the other.`);
  let unfinished = 0;
  const write = async (at: string, fill: (file: FileHandle) => Promise<void>): Promise<string> => {
    const place = join(root, at);
    mkdirSync(dirname(place), { recursive: true });
    const making = join(root, `${UNFINISHED}${unfinished++}`);
    const file = await open(making, "w");
    try {
      await fill(file);
      await file.sync();
    } catch (error) {
      rmSync(making, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await rename(making, place);
    await syncFolder(dirname(place));
    return markOf(place);
  };
  return {
    title: root,
    list: async () => listFolder(root),
    read: async (at) => (existsSync(join(root, at)) ? readFileSync(join(root, at)) : null),
    put: (object) =>
      write(object.path, async (file) => {
        for await (const piece of checkedPieces(object, PIECE)) await file.writeFile(piece);
      }),
    note: async (at, bytes) => {
      await write(at, (file) => file.writeFile(bytes));
    },
    remove: async (at) => {
      rmSync(join(root, at), { force: true });
      removeEmpty(root, dirname(join(root, at)));
    },
    lock: async () => {
      mkdirSync(root, { recursive: true });
      const unlock = lockFile(join(root, LOCK), `Another publish is writing ${root}: wait until it ends.`);
      return { check: async () => {}, release: async () => unlock() };
    },
    tidy: async () => {
      for (const name of readdirSync(root))
        if (name.startsWith(UNFINISHED)) rmSync(join(root, name), { force: true });
    },
  };
}

/** Files below the folder but those that are being written. */
function listFolder(root: string): ReadonlyMap<string, string> {
  if (!existsSync(root)) return new Map();
  const found = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !entry.name.startsWith(UNFINISHED))
      found.set(relative(root, path).split(sep).join("/"), markOf(path));
  }
  return found;
}

/** Size and time: enough to see that somebody else wrote the file. */
function markOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size}-${mtimeMs}`;
}

/** Windows knows no sync of folders and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function removeEmpty(root: string, folder: string): void {
  if (folder === root || !existsSync(folder) || readdirSync(folder).length > 0) return;
  rmdirSync(folder);
  removeEmpty(root, dirname(folder));
}
