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

  return (form: FileForm, path: string) =>
    (descriptor: number): OpenFile => {
      const entry: Entry = { bytes: form.bytes, content: null, users: 0 };
      const take = async (): Promise<Taken | null> => {
        if (entry.content === null) {
          if (!makeRoom(entry.bytes)) return null;
          left -= entry.bytes;
          entry.content = inTurns(readChecked(descriptor, form, path));
        }
        kept.delete(entry);
        kept.add(entry);
        entry.users++;
        try {
          return { bytes: await entry.content, letGo: () => void entry.users-- };
        } catch (error) {
          entry.users--;
          forget(entry);
          throw error;
        }
      };
      return { descriptor, take };
    };
}
