/** How long the files of a release stay open: until its last answer is sent. */

import { closeSync } from "node:fs";

export interface Lifetime {
  /** Keeps the files open until the returned function is called. */
  hold(): () => void;
  /** Closes the files as soon as nobody holds them. */
  retire(): void;
}

/** Closes these files when the server has retired them and nobody holds them any more. */
export function lifetime(opened: readonly number[]): Lifetime {
  let holders = 1; // the server itself, until it retires the release
  const leave = (): void => {
    holders--;
    if (holders === 0) for (const file of opened) closeSync(file);
  };
  const once = (): (() => void) => {
    let isHeld = true;
    return () => {
      if (isHeld) leave();
      isHeld = false;
    };
  };
  const retire = once();
  return {
    hold: () => {
      holders++;
      return once();
    },
    retire,
  };
}
