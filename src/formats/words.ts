/** The words that GPX and KML write around the data, in the four languages of the Pyrenees' visitors. */

import { formatDecimal, type Place } from "../place.js";
import { appearanceOf, type Category, categoryNumbers, type Language } from "../taxonomy.js";
import type { About } from "./format.js";

interface Words {
  readonly summer: string;
  readonly winter: string;
  /** Sleeping places, short. */
  readonly beds: string;
  dataOf(date: string): string;
  readonly generation: string;
}

const words: Readonly<Record<Language, Words>> = {
  fr: {
    summer: "été",
    winter: "hiver",
    beds: "pl.",
    dataOf: (date) => `Données du ${date}.`,
    generation: "Génération",
  },
  es: {
    summer: "verano",
    winter: "invierno",
    beds: "pl.",
    dataOf: (date) => `Datos del ${date}.`,
    generation: "Generación",
  },
  ca: {
    summer: "estiu",
    winter: "hivern",
    beds: "pl.",
    dataOf: (date) => `Dades del ${date}.`,
    generation: "Generació",
  },
  en: {
    summer: "summer",
    winter: "winter",
    beds: "beds",
    dataOf: (date) => `Data of ${date}.`,
    generation: "Generation",
  },
};

/** What a document is called: the data set, and the region and category that it holds. */
export function documentTitle({ title, region, category }: About, language: Language): string {
  const label = category === null ? null : appearanceOf(category).labels[language];
  return [title, region, label].filter((part) => part !== null).join(" - ");
}

/** How old the data are and which generation of files this is. */
export function ageLine({ date, generation }: About, language: Language): string {
  return `${words[language].dataOf(date.slice(0, 10))} ${words[language].generation} ${generation}.`;
}

/** The categories that a document names: all of them, or its own. */
export function shownCategories({ category }: About): readonly (Category | null)[] {
  return category === null ? [...categoryNumbers, null] : [category];
}

/** Category, altitude, sleeping places and commune in one short line: what a list on a small screen shows. */
export function factsLine(place: Place, language: Language): string {
  return [
    appearanceOf(place.category).labels[language],
    place.altitude === null ? place.altitudeText : `${formatDecimal(place.altitude)} m`,
    capacityFact(place.summerCapacity, place.summerText, words[language].summer, words[language].beds),
    capacityFact(place.winterCapacity, place.winterText, words[language].winter, words[language].beds),
    place.commune,
  ]
    .filter((fact) => fact !== null && fact.trim() !== "")
    .join(" · ");
}

/** Null where there is no fact to show: "0" stands for "none or unknown" in the source. */
function capacityFact(count: number | null, text: string, season: string, beds: string): string | null {
  if (count === null && /^[\s0]*$/.test(text)) return null;
  return `${season} ${count ?? text.trim()} ${beds}`;
}
