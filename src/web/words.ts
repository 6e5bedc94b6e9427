/** Every word of the page, in four languages; a missing one is a type error. */

import type { Language } from "../taxonomy.js";
import { ca } from "./words-ca.js";
import { en, type Word } from "./words-en.js";
import { es } from "./words-es.js";
import { fr } from "./words-fr.js";

export type { Word } from "./words-en.js";

/** A text in the visitor's language. */
export type Say = (word: Word, gaps?: Readonly<Record<string, string | number>>) => string;

export const words: Readonly<Record<Language, Record<Word, string>>> = { fr, es, ca, en };
export const languages: readonly Language[] = ["fr", "es", "ca", "en"];

/** Fills `{n}`-like gaps of a text. */
export function fill(text: string, gaps: Readonly<Record<string, string | number>> = {}): string {
  return text.replace(/\{(\w+)\}/g, (gap, name: string) => String(gaps[name] ?? gap));
}

/** The language that the visitor likes best of those there are; English where none is. */
export function chooseLanguage(liked: readonly string[]): Language {
  for (const tag of liked) {
    const found = languages.find((language) => tag.toLowerCase().split("-")[0] === language);
    if (found !== undefined) return found;
  }
  return "en";
}

/** A date in full words; English dates as the British write them, day first like the others. */
export function longDate(date: string, language: Language): string {
  return new Date(date).toLocaleDateString(language === "en" ? "en-GB" : language, {
    dateStyle: "long",
    timeZone: "UTC",
  });
}
