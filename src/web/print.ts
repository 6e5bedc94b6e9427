/** The list on paper: A4, in the order of names, with what a walker needs when every battery is empty. */

import { appearanceOf, type Language } from "../taxonomy.js";
import { ageOf } from "./age.js";
import { formatDegrees, formatUtm } from "./coordinates.js";
import { el } from "./dom.js";
import { byName, type Choice, type PageFacts, type PlaceEntry } from "./model.js";
import { longDate, type Say } from "./words.js";

/** Lays the places out for print and asks the browser to print them. */
export function printList(
  facts: PageFacts,
  places: readonly PlaceEntry[],
  choice: Choice,
  say: Say,
  language: Language,
): void {
  document.querySelector("#paper")?.remove();
  const sorted = byName(places, language).map(({ place }) => place);
  const age = ageOf(facts.date, Date.now(), say, language);
  const date = longDate(facts.date, language);
  const kinds = [...choice.categories].map((category) => appearanceOf(category).labels[language]);
  const about = [
    choice.region ?? say("allRegions"),
    ...kinds,
    `${sorted.length} / ${facts.count}`,
    say("dataAge", { date }),
    age.text,
  ];
  const columns = [
    say("list"),
    say("category"),
    say("altitude"),
    say("sleepsSummer"),
    say("position"),
    say("utm"),
  ];
  const paper = el(
    "section",
    { id: "paper", class: "paper" },
    el("h1", {}, say("printTitle")),
    el("p", { class: "age" }, about.join(" · ")),
    age.warning === null ? null : el("p", { class: "age old" }, age.warning),
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column)))),
      el("tbody", {}, ...sorted.map((place) => paperRow(place, language))),
    ),
    el("p", { class: "fine" }, `${say("notForNavigation")} ${facts.attribution} ${facts.license}`),
  );
  document.body.append(paper);
  print();
}

function paperRow({ name, commune, category, altitude, summer, lon, lat }: PlaceEntry, language: Language) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name, commune === "" ? null : el("small", {}, ` ${commune}`)),
    el("td", {}, appearanceOf(category).labels[language]),
    el("td", { class: "number" }, altitude === null ? "–" : `${Math.round(altitude)} m`),
    el("td", { class: "number" }, summer === null ? "–" : String(summer)),
    el("td", { class: "number" }, formatDegrees(lon, lat)),
    el("td", { class: "number" }, formatUtm(lon, lat) ?? "–"),
  );
}
