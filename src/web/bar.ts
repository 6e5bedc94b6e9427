/** The head of the page: whose data these are, how old, and what can be done with all of them. */

import type { Language } from "../taxonomy.js";
import { ageOf } from "./age.js";
import { el } from "./dom.js";
import type { PageFacts } from "./model.js";
import { chooseLanguage, languages, type Say, words } from "./words.js";

interface BarOptions {
  readonly facts: PageFacts;
  readonly onDownloads: () => void;
  readonly onPrint: () => void;
  readonly onLanguage: (language: Language) => void;
}

export function createBar({ facts, onDownloads, onPrint, onLanguage }: BarOptions) {
  const element = el("header", { class: "bar" });
  const age = el("p", { class: "age" });
  const icon = el("img", { src: "icon.svg", alt: "", width: 32, height: 32 });
  const brand = el("div", { class: "brand" }, el("h1", {}, facts.title), age);
  const print = el("button", { type: "button", id: "print", class: "wide-only", on: { click: onPrint } });
  const downloads = el("button", {
    type: "button",
    id: "open-downloads",
    class: "primary",
    on: { click: onDownloads },
  });
  const picker = el(
    "select",
    { id: "language" },
    ...languages.map((code) => el("option", { value: code, lang: code }, words[code].language)),
  );
  picker.addEventListener("change", () => onLanguage(chooseLanguage([picker.value])));
  // A narrow screen has room for two letters; the select lies over them, unseen.
  const letters = el("span", { class: "letters", "aria-hidden": "true" });
  element.append(icon, brand, print, downloads, el("div", { class: "language" }, letters, picker));
  return {
    element,
    draw: (say: Say, language: Language): void => {
      drawAge(age, facts, say, language);
      print.textContent = say("print");
      downloads.textContent = say("downloads");
      letters.textContent = language.toUpperCase();
      picker.value = language;
      picker.setAttribute("aria-label", say("settings"));
    },
  };
}

function drawAge(host: HTMLElement, { date }: PageFacts, say: Say, language: Language): void {
  const { text, warning } = ageOf(date, Date.now(), say, language);
  host.classList.toggle("old", warning !== null);
  host.replaceChildren(el("time", { datetime: date, title: date.slice(0, 10) }, text));
  if (warning !== null) host.append(` ${warning}`);
}
