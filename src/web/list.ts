/** The list beside the map: the same places, in words; it is the map for who cannot see one. */

import { symbolSvg } from "../symbols.js";
import { appearanceOf, type Language } from "../taxonomy.js";
import { drawing, el } from "./dom.js";
import type { Choice, Listed, PlaceEntry } from "./model.js";
import type { Say } from "./words.js";

const PAGE = 100; // rows at a time: a phone draws them without a pause

interface ListState {
  readonly listed: readonly Listed[];
  readonly selected: PlaceEntry | null;
  readonly say: Say;
  readonly language: Language;
  readonly choice: Choice;
  readonly total: number;
  /** Whether everything that matches is listed, not only what the map shows. */
  readonly isAll: boolean;
  /** Where the distances begin; null where there are none. */
  readonly from: "fromMiddle" | "fromYou" | null;
}

export function createList(options: {
  readonly onPick: (place: PlaceEntry) => void;
  readonly onEverything: () => void;
}) {
  const status = el("span", { class: "status", role: "status" });
  const measured = el("span", {});
  const rows = el("ul", { class: "list", id: "list" });
  const more = el("button", { type: "button", class: "more" });
  const element = el(
    "div",
    { class: "results" },
    el("p", { class: "summary" }, status, measured),
    rows,
    more,
  );
  let shown = PAGE;
  let state: ListState | null = null;
  more.addEventListener("click", () => {
    shown += PAGE;
    if (state !== null) update(state);
  });

  const update = (next: ListState): void => {
    state = next;
    const { listed, say, total, isAll, from, language } = next;
    const n = listed.length.toLocaleString(language);
    status.textContent = say(isAll ? "found" : "inView", { n, m: total.toLocaleString(language) });
    measured.textContent = from === null ? "" : say(from);
    const focused =
      document.activeElement instanceof HTMLElement ? document.activeElement.dataset["id"] : undefined;
    rows.replaceChildren(...listed.slice(0, shown).map((one) => row(one, next, options.onPick)));
    if (listed.length === 0) rows.append(nothing(next, options.onEverything));
    if (focused !== undefined) focus(focused);
    more.textContent = say("more");
    more.hidden = listed.length <= shown;
  };
  /** Puts the focus on a place's row; false where it has none. */
  const focus = (id: number | string): boolean => {
    const button = rows.querySelector<HTMLElement>(`[data-id="${id}"]`);
    button?.focus();
    return button !== null;
  };
  return { element, update, focus };
}

function row(
  { place, metres }: Listed,
  { selected, say, language }: ListState,
  onPick: (place: PlaceEntry) => void,
) {
  const { labels } = appearanceOf(place.category);
  const facts = [
    labels[language],
    place.altitude === null ? null : `${Math.round(place.altitude).toLocaleString(language)} m`,
    place.summer === null ? null : say("sleeps", { n: place.summer }),
  ]
    .filter((fact) => fact !== null)
    .map((fact) => fact.replace(/(\d) /g, "$1\u00a0")); // a number stays with its unit
  const button = el(
    "button",
    { type: "button", "data-id": place.id, "aria-current": place.id === selected?.id ? "true" : null },
    drawing(symbolSvg(place.category, 24), "symbol"),
    el("span", { class: "name" }, place.name),
    metres === null
      ? null
      : el("span", { class: "away" }, say("distance", { km: kilometres(metres, language) })),
    el("span", { class: "facts" }, facts.join(" · ")),
  );
  button.addEventListener("click", () => onPick(place));
  return el("li", {}, button);
}

function nothing({ say, choice }: ListState, onEverything: () => void) {
  const word = choice.search.trim() === "" ? "nothing" : "nothingFound";
  const button = el("button", { type: "button", class: "plain-button" }, say("showEverything"));
  button.addEventListener("click", onEverything);
  return el("li", { class: "nothing" }, el("p", {}, say(word)), button);
}

/** One decimal below ten, none above. */
export function kilometres(metres: number, language: Language): string {
  const digits = metres < 10_000 ? 1 : 0;
  return (metres / 1000).toLocaleString(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
