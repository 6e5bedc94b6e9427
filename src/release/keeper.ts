/**
 * Contents of files that were asked for, under a budget: what nobody asked for longest makes room. What an answer is being
 * sent from counts until it is sent, so the budget holds however slow the clients are.
 */

import type { OpenFile, Taken } from "../answer.js";
import type { FileForm } from "../bytes/compress.js";
import { inTurns, readChecked } from "./bodies.js";

const LARGEST = 1 / 4; // of the budget: one file must not drive out all others

/** A file and what is known of it in memory. */
interface Entry {
  readonly bytes: number;
  content: Promise<Buffer> | null;
  /** The content, once it is there. */
  read: Buffer | null;
  /** Answers that are being sent from it. */
  users: number;
}

/** Keeps at most `room` bytes. The result makes an open file out of a descriptor, for a form that lies at a path. */
export function createKeeper(room: number) {
  const kept = new Set<Entry>(); // the one that was not asked for longest first
  let left = room;

  const forget = (entry: Entry): void => {
    if (!kept.delete(entry)) return;
    entry.content = null;
    entry.read = null;
    left += entry.bytes;
  };
  const makeRoom = (bytes: number): boolean => {
    if (bytes > room * LARGEST) return false;
    for (const entry of kept) {
      if (left >= bytes) break;
      if (entry.users === 0) forget(entry);
    }
    return left >= bytes;
  };
  const use = (entry: Entry): void => {
    kept.delete(entry);
    kept.add(entry);
    entry.users++;
  };

  return (form: FileForm, path: string) =>
    (descriptor: number): OpenFile => {
      const entry: Entry = { bytes: form.bytes, content: null, read: null, users: 0 };
      const take = async (): Promise<Taken | null> => {
        if (entry.content === null) {
          if (!makeRoom(entry.bytes)) return null;
          left -= entry.bytes;
          entry.content = inTurns(readChecked(descriptor, form, path));
        }
        use(entry);
        try {
          entry.read = await entry.content;
          return { bytes: entry.read, letGo: () => void entry.users-- };
        } catch (error) {
          entry.users--;
          forget(entry);
          throw error;
        }
      };
      const takeRead = (): Taken | null => {
        if (entry.read === null) return null;
        use(entry);
        return { bytes: entry.read, letGo: () => void entry.users-- };
      };
      return { descriptor, take, takeRead };
    };
}
