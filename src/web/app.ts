/** The map page: loads what it must know, builds the panel, and keeps list, map, card and address of one mind. */

import type { IndexRow } from "../pageindex.js";
import type { Language } from "../taxonomy.js";
import { createCard } from "./card.js";
import { el } from "./dom.js";
import { openDownloads } from "./downloads.js";
import { createFilters } from "./filters.js";
import { createList } from "./list.js";
import { canDraw, type MapView, openMap } from "./map.js";
import {
  ageInDays,
  byDistance,
  type Choice,
  EVERYTHING,
  idOfAddress,
  isInside,
  matcher,
  type PageFacts,
  type PlaceEntry,
  readIndex,
} from "./model.js";
import { followOffline } from "./offline.js";
import { printList } from "./print.js";
import { createStage } from "./stage.js";
import { chooseLanguage, fill, languages, type Say, words } from "./words.js";

const OLD_AFTER = 365; // days
const REMEMBERED = "language"; // in localStorage: a taste, not an identity

async function getJson<Value>(path: string): Promise<Value> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as Value;
}

const [facts, rows] = await Promise.all([
  getJson<PageFacts>("page.json"),
  getJson<readonly IndexRow[]>("index.json"),
]);
const places = readIndex(rows);
const byId = new Map(places.map((place) => [place.id, place]));

let language: Language = chooseLanguage([recall(), ...navigator.languages].filter((tag) => tag !== null));
let choice: Choice = EVERYTHING;
let selected: PlaceEntry | null = null;
let visitor: { readonly lon: number; readonly lat: number } | null = null;
let map: MapView | null = null;
const say: Say = (word, gaps) => fill(words[language][word], gaps);

const app = el("div", { id: "app", class: "app" });
const bar = el("header", { class: "bar" });
const panel = el("section", { class: "panel" });
const stage = createStage({
  onZoom: (by) => map?.zoom(by),
  onWhole: () => map?.fit(facts.bbox ?? facts.box),
  onTopographic: (layer) => map?.setTopographic(layer),
});
const card = createCard({
  facts,
  onClose: () => select(null, false),
});
const filters = createFilters({
  facts,
  places,
  onChoice: (changed) => {
    choice = { ...choice, ...changed };
    map?.show(choice);
    update();
  },
  onVisitor: (position) => {
    visitor = position;
    if (position !== null) map?.go(position, 11);
    update();
  },
});
const list = createList({ onPick: (place) => select(place, true), onEverything: showEverything });

function showEverything(): void {
  choice = EVERYTHING;
  map?.show(choice);
  map?.fit(facts.bbox ?? facts.box);
  filters.reset();
  update();
}

/** What the list shows: all that match while searching or without a map, else what is in view. */
function listedPlaces(): readonly PlaceEntry[] {
  const matching = places.filter(matcher(choice));
  const box = map?.box();
  return box === undefined || choice.search.trim() !== ""
    ? matching
    : matching.filter((place) => isInside(place, box));
}

function update(): void {
  const box = facts.bbox ?? facts.box;
  const middle = map?.center() ?? { lon: (box.west + box.east) / 2, lat: (box.south + box.north) / 2 };
  const listed = byDistance(listedPlaces(), visitor ?? middle);
  filters.update(choice, say, language);
  list.update({ listed, selected, say, language, choice, total: places.length, isMapped: map !== null });
}

/** `andGo` = the map moves to it; a place that was picked on the map is already seen. */
function select(place: PlaceEntry | null, andGo: boolean): void {
  selected = place;
  map?.select(place, andGo);
  const address = place === null ? location.pathname : `#${place.id}`;
  if (idOfAddress(location) !== (place?.id ?? null)) history.replaceState(null, "", address);
  card.show(place, say, language);
  app.classList.toggle("has-card", place !== null);
  update();
}

function drawBar(): void {
  const picker = el(
    "select",
    { id: "language", "aria-label": say("settings") },
    ...languages.map((code) =>
      el("option", { value: code, lang: code, selected: code === language }, words[code].language),
    ),
  );
  picker.addEventListener("change", () => setLanguage(chooseLanguage([picker.value])));
  const downloads = el(
    "button",
    {
      type: "button",
      class: "primary",
      id: "open-downloads",
      on: { click: () => openDownloads(scopeNow(), say, language) },
    },
    say("downloads"),
  );
  const print = el(
    "button",
    {
      type: "button",
      id: "print",
      class: "wide-only",
      on: { click: () => printList(facts, places.filter(matcher(choice)), choice, say, language) },
    },
    say("print"),
  );
  const icon = el("img", { src: "icon.svg", alt: "", width: 32, height: 32 });
  const heading = el("div", { class: "brand" }, el("h1", {}, facts.title), age());
  bar.replaceChildren(icon, heading, print, downloads, picker);
}

/** How old the data are, always in sight; louder when they are too old. */
function age(): HTMLElement {
  const days = ageInDays(facts.date, Date.now());
  const text =
    days === 0 ? say("today") : days === 1 ? say("day") : say("days", { n: days.toLocaleString(language) });
  const isOld = days > OLD_AFTER;
  return el(
    "p",
    { class: isOld ? "age old" : "age" },
    el("time", { datetime: facts.date, title: facts.date.slice(0, 10) }, text),
    isOld ? ` ${say("old")}` : null,
  );
}

function scopeNow() {
  return { facts, places, choice, box: map?.box() ?? null };
}

function setLanguage(next: Language): void {
  language = next;
  try {
    localStorage.setItem(REMEMBERED, next);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
  map?.setLanguage(next);
  draw();
}

function recall(): string | null {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}

/** Everything that holds words. */
function draw(): void {
  document.documentElement.lang = language;
  panel.setAttribute("aria-label", say("list"));
  drawBar();
  stage.draw(say);
  card.show(selected, say, language);
  offline.draw(say);
  update();
}

async function drawMap(): Promise<void> {
  if (facts.maxZoom === null) return stage.sayWhyNot("noTiles", say);
  if (!canDraw()) return stage.sayWhyNot("noWebgl", say);
  map = await openMap(stage.map, {
    facts,
    places,
    language,
    label: say("mapLabel"),
    onMove: () => update(),
    onPick: (id) => select(byId.get(id) ?? null, false),
  });
  map.show(choice);
  if (selected !== null) map.select(selected, true);
  update();
}

const offline = followOffline();
panel.append(filters.element, list.element, offline.element);
app.append(bar, panel, stage.element, card.element);
draw();
document.querySelector("#plain")?.remove();
document.body.append(app);
select(byId.get(idOfAddress(location) ?? 0) ?? null, true);
addEventListener("hashchange", () => select(byId.get(idOfAddress(location) ?? 0) ?? null, true));
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && selected !== null) select(null, false);
});
await drawMap();
