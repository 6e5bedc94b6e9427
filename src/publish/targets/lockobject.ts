/**
 * A lock in a store that knows no locks: an object that its keeper writes anew every few seconds. Nobody's clock counts:
 * one that does not change while somebody watches it belongs to a run that was killed, and is taken over.
 */

import { randomUUID } from "node:crypto";
import { setInterval as every, setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../errors.js";
import type { Lock } from "./target.js";

export interface Stored {
  readonly text: string;
  /** Changes with the text. */
  readonly mark: string;
}

/** The object that is the lock. */
export interface LockObject {
  read(): Promise<Stored | null>;
  /** Writes it, if it is still what was read (null: if there is none); gives its mark, or null where it is another. */
  write(text: string, read: Stored | null): Promise<string | null>;
  remove(): Promise<void>;
}

export interface LockTimes {
  /** Between two signs of life, in milliseconds. */
  readonly renewal: number;
  /** Without a sign of life, its keeper is taken for dead; in milliseconds. */
  readonly patience: number;
}

/** Takes the lock, or takes it over from the dead. Throws UserError `busy` while its keeper lives. */
export async function lockObject(
  object: LockObject,
  title: string,
  { renewal, patience }: LockTimes,
): Promise<Lock> {
  const busy = (): UserError =>
    new UserError("busy", `Another publish is writing ${title}: wait until it ends.`);
  const before = await unlessAlive(object, patience, busy);
  const keeper = randomUUID();
  let signs = 0;
  let mark = await object.write(`${keeper} ${signs}`, before);
  if (mark === null) throw busy();
  const isOurs = (stored: Stored | null): boolean => stored?.text.startsWith(`${keeper} `) === true;
  const check = async (): Promise<void> => {
    // A store that heeds no conditions takes the words of both: who spoke last has it, and the other one learns it here.
    if (mark === null || !isOurs(await object.read())) throw busy();
  };
  await check();
  const ended = new AbortController();
  const renew = async (): Promise<void> => {
    const stored = await object.read();
    mark = isOurs(stored) ? await object.write(`${keeper} ${++signs}`, stored) : null;
  };
  const renewals = (async () => {
    for await (const _ of every(renewal, null, { signal: ended.signal, ref: false })) {
      await renew().catch(() => {}); // the line is down: the next one may come through, and `check` asks when it matters
      if (mark === null) return;
    }
  })().catch(() => {}); // ended
  return {
    check,
    release: async () => {
      ended.abort();
      await renewals;
      if (isOurs(await object.read())) await object.remove();
    },
  };
}

const LOOKS = 20; // within the patience: a living keeper is seen at its next sign of life

/** The lock as it lies there from a run that gives no sign of life; null where there is none. */
async function unlessAlive(
  object: LockObject,
  patience: number,
  busy: () => UserError,
): Promise<Stored | null> {
  const first = await object.read();
  if (first === null) return null;
  for (let look = 0; look < LOOKS; look++) {
    await pause(patience / LOOKS);
    const next = await object.read();
    if (next === null) return null;
    if (next.mark !== first.mark) throw busy();
  }
  return first;
}
