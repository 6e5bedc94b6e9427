/** How old the data are, in words: always in sight, and louder when they are too old to trust. */

import type { Language } from "../taxonomy.js";
import type { Say } from "./words.js";

const OLD_AFTER = 365; // days
const DAY = 86_400_000; // ms

export interface Age {
  readonly text: string;
  /** null while the data are less than a year old. */
  readonly warning: string | null;
}

/** Whole days from the data's date to now, never negative. */
export function ageInDays(date: string, now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(date)) / DAY));
}

/** "Data of 3 days ago", and a warning beyond a year. */
export function ageOf(date: string, now: number, say: Say, language: Language): Age {
  const days = ageInDays(date, now);
  const text =
    days === 0 ? say("today") : days === 1 ? say("day") : say("days", { n: days.toLocaleString(language) });
  return { text, warning: days > OLD_AFTER ? say("old") : null };
}
