/** The visitor's language: what was chosen here before, else what the browser asks for. Kept on the device alone. */

import type { Language } from "../taxonomy.js";
import { chooseLanguage } from "./words.js";

const KEY = "language"; // in localStorage: a taste, not an identity

/** The language to begin with. */
export function recallLanguage(): Language {
  return chooseLanguage([...recalled(), ...navigator.languages]);
}

/** Keeps a choice for the next visit, where the browser keeps anything. */
export function rememberLanguage(language: Language): void {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

function recalled(): string[] {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === null ? [] : [kept];
  } catch {
    return [];
  }
}
