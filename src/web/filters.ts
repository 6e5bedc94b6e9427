/** Search, categories (which are the legend too), region, and the visitor's position, asked only on a click. */

import { symbolSvg } from "../symbols.js";
import { appearanceOf, byImportance, type Category, categoryNumbers, type Language } from "../taxonomy.js";
import { drawing, el } from "./dom.js";
import { type Choice, countCategories, type PageFacts, type PlaceEntry, type Position } from "./model.js";
import type { Say } from "./words.js";

interface FilterOptions {
  readonly facts: PageFacts;
  readonly places: readonly PlaceEntry[];
  readonly onChoice: (changed: Partial<Choice>) => void;
  readonly onVisitor: (position: Position | null) => void;
}

const LOCATE_WITHIN = 20_000; // ms

export function createFilters({ facts, places, onChoice, onVisitor }: FilterOptions) {
  const search = el("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    enterkeyhint: "search",
    spellcheck: "false",
  });
  const chips = el("div", { class: "chips", role: "group" });
  const region = el("select", { id: "region" });
  const near = el("button", { type: "button", id: "near" });
  const note = el("p", { class: "note", role: "status" });
  const element = el(
    "form",
    { class: "filters", role: "search" },
    search,
    chips,
    el("div", { class: "row" }, region, near),
    note,
  );
  element.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", () => onChoice({ search: search.value }));
  region.addEventListener("change", () => onChoice({ region: region.value === "" ? null : region.value }));
  let say: Say = (word) => word;
  const become = (position: Position | null): void => {
    near.setAttribute("aria-pressed", String(position !== null));
    onVisitor(position);
  };
  near.setAttribute("aria-pressed", "false");
  near.addEventListener("click", () => {
    if (near.getAttribute("aria-pressed") === "true") become(null);
    else locate(note, become, say);
  });
  // A category without a single place would be a button that does nothing.
  const present = byImportance.filter((category) =>
    category === null
      ? places.some((place) => place.category === null)
      : categoryNumbers.includes(category) && (facts.categories[category] ?? 0) > 0,
  );
  return {
    element,
    reset: (): void => {
      search.value = "";
    },
    focus: (): void => search.focus(),
    say: (text: string): void => {
      note.textContent = text;
    },
    update: (choice: Choice, words: Say, language: Language): void => {
      say = words;
      search.placeholder = say("search");
      search.setAttribute("aria-label", say("search"));
      chips.setAttribute("aria-label", say("categories"));
      region.setAttribute("aria-label", say("region"));
      near.textContent = say("nearMe");
      drawRegions(region, facts, choice, say);
      drawChips(chips, present, choice, countCategories(places, choice), language, onChoice);
    },
  };
}

function drawRegions(select: HTMLSelectElement, facts: PageFacts, choice: Choice, say: Say): void {
  const option = (value: string, text: string, isChosen: boolean) =>
    el("option", { value, selected: isChosen }, text);
  select.replaceChildren(
    option("", say("allRegions"), choice.region === null),
    ...facts.regions.map(({ name, count }) => option(name, `${name} (${count})`, choice.region === name)),
  );
}

function drawChips(
  host: HTMLElement,
  present: readonly (Category | null)[],
  choice: Choice,
  counts: ReadonlyMap<Category | null, number>,
  language: Language,
  onChoice: FilterOptions["onChoice"],
): void {
  const focused =
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset["category"] : undefined;
  host.replaceChildren(
    ...present.map((category) => {
      const isOn = choice.categories.has(category);
      const chip = el(
        "button",
        { type: "button", class: "chip", "aria-pressed": String(isOn), "data-category": String(category) },
        drawing(symbolSvg(category, 24), "symbol"),
        el("span", { class: "chip-label" }, appearanceOf(category).labels[language]),
        el("span", { class: "chip-count" }, String(counts.get(category) ?? 0)),
      );
      chip.addEventListener("click", () => onChoice({ categories: toggled(choice.categories, category) }));
      return chip;
    }),
  );
  host.classList.toggle("some", choice.categories.size > 0);
  if (focused !== undefined) host.querySelector<HTMLElement>(`[data-category="${focused}"]`)?.focus();
}

function toggled(set: ReadonlySet<Category | null>, category: Category | null): ReadonlySet<Category | null> {
  const next = new Set(set);
  if (!next.delete(category)) next.add(category);
  return next;
}

/** Says why, where a browser gives no position. */
function locate(note: HTMLElement, onVisitor: FilterOptions["onVisitor"], say: Say): void {
  const refuse = (why: "positionNeedsHttps" | "positionDenied"): void => {
    note.textContent = say("noPosition", { why: say(why) });
    onVisitor(null);
  };
  if (!isSecureContext || !("geolocation" in navigator)) {
    refuse("positionNeedsHttps");
    return;
  }
  note.textContent = say("locating");
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => {
      note.textContent = "";
      onVisitor({ lon: coords.longitude, lat: coords.latitude });
    },
    () => refuse("positionDenied"),
    { timeout: LOCATE_WITHIN, maximumAge: 60_000 },
  );
}
