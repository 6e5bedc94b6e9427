/** The map page: keeps list, map, card and address of one mind. */

import type { Language } from "../taxonomy.js";
import { createBar } from "./bar.js";
import { createCard } from "./card.js";
import { isOnDisk, type PageData } from "./data.js";
import { el } from "./dom.js";
import { openDownloads } from "./downloads.js";
import { createFilters } from "./filters.js";
import { recallLanguage, rememberLanguage } from "./language.js";
import { createList } from "./list.js";
import type { MapView } from "./map.js";
import {
  byDistance,
  byName,
  type Choice,
  EVERYTHING,
  idOfAddress,
  isInside,
  matcher,
  middleOf,
  type PlaceEntry,
  type Position,
} from "./model.js";
import { followOffline } from "./offline.js";
import { printList } from "./print.js";
import { canDraw, createStage } from "./stage.js";
import { fill, type Say, words } from "./words.js";

const CLOSE_UP = 11; // zoom at which a place and what is around it are seen

/** Builds the page in the place of the plain one; resolves when the map is there, or why not is said. */
export async function openApp({ facts, places }: PageData): Promise<void> {
  const whole = facts.bbox ?? facts.box;
  const byId = new Map(places.map((place) => [place.id, place]));
  let language: Language = recallLanguage();
  let choice: Choice = EVERYTHING;
  let selected: PlaceEntry | null = null;
  let visitor: Position | null = null;
  let map: MapView | null = null;
  const whyNoMap = isOnDisk()
    ? "noServer"
    : facts.maxZoom === null
      ? "noTiles"
      : canDraw()
        ? null
        : "noWebgl";
  const hasMap = whyNoMap === null; // though it may still be on its way
  const say: Say = (word, gaps) => fill(words[language][word], gaps);
  const chosen = (): PlaceEntry[] => places.filter(matcher(choice));

  const bar = createBar({
    facts,
    onDownloads: () => openDownloads({ facts, places, choice, box: map?.box() ?? null }, say, language),
    onPrint: () => printList(facts, chosen(), choice, say, language),
    onLanguage: (next) => {
      language = next;
      rememberLanguage(next);
      map?.setLanguage(next);
      draw();
    },
  });
  const stage = createStage({
    facts,
    onZoom: (by) => map?.zoom(by),
    onWhole: () => map?.fit(whole),
    onTopographic: (layer) => map?.setTopographic(layer),
  });
  const card = createCard({ facts, onClose: () => select(null, false) });
  const filters = createFilters({
    facts,
    places,
    onChoice: (changed) => choose({ ...choice, ...changed }),
    onVisitor: (position) => {
      visitor = position;
      map?.setVisitor(position);
      if (position !== null) map?.go(position, CLOSE_UP - 1);
      update();
    },
  });
  const list = createList({
    onPick: (place) => select(place, true),
    onEverything: () => {
      filters.reset();
      map?.fit(whole);
      choose(EVERYTHING);
    },
  });
  const offline = followOffline();
  const panel = el("section", { class: "panel" }, filters.element, list.element, offline.element);
  const app = el("div", { id: "app", class: "app" }, bar.element, panel, stage.element, card.element);

  function choose(next: Choice): void {
    choice = next;
    map?.show(choice);
    update();
  }

  /** The list: all that match while searching or without a map, else what is in view. */
  function update(): void {
    const box = map?.box();
    const isAll = box === undefined || choice.search.trim() !== "";
    const seen = isAll ? chosen() : chosen().filter((place) => isInside(place, box));
    const middle = hasMap ? (map?.center() ?? middleOf(whole)) : null;
    const near = visitor ?? middle;
    const listed = near === null ? byName(seen, language) : byDistance(seen, near);
    const from = visitor !== null ? "fromYou" : hasMap ? "fromMiddle" : null;
    filters.update(choice, say, language);
    list.update({ listed, selected, say, language, choice, total: places.length, isAll, from });
  }

  /** `andGo` = the map moves to it; a place that was picked on the map is already seen. */
  function select(place: PlaceEntry | null, andGo: boolean): void {
    const before = selected;
    const hadFocus = card.element.contains(document.activeElement);
    selected = place;
    if (idOfAddress(location) !== (place?.id ?? null))
      history.replaceState(null, "", place === null ? location.pathname : `#${place.id}`);
    card.show(place, say, language);
    map?.select(place, andGo, card.element.getBoundingClientRect());
    update();
    if (place === null && hadFocus && before !== null) list.focus(before.id) || filters.focus();
  }

  function selectAddressed(): void {
    const id = idOfAddress(location);
    const place = byId.get(id ?? 0) ?? null;
    filters.say(id !== null && place === null ? say("noSuchPlace", { id }) : "");
    select(place, true);
  }

  /** Everything that holds words. */
  function draw(): void {
    document.documentElement.lang = language;
    panel.setAttribute("aria-label", say("list"));
    bar.draw(say, language);
    stage.draw(say);
    card.show(selected, say, language);
    offline.draw(say);
    update();
  }

  async function drawMap(): Promise<void> {
    if (whyNoMap !== null) return stage.sayWhyNot(whyNoMap, say);
    const { openMap } = await import("./map.js");
    map = await openMap(stage.map, {
      facts,
      places,
      language,
      label: say("mapLabel"),
      onMove: update,
      onPick: (id) => select(byId.get(id) ?? null, false),
    });
    map.show(choice);
    if (selected !== null) map.select(selected, true, card.element.getBoundingClientRect());
    update();
  }

  draw();
  document.querySelector("#plain")?.remove();
  document.body.append(app);
  selectAddressed();
  addEventListener("hashchange", selectAddressed);
  addEventListener("keydown", (event) => {
    const isOfDialog = document.querySelector("dialog[open]") !== null;
    if (event.key === "Escape" && selected !== null && !isOfDialog) select(null, false);
  });
  // A page that stays open for days must not go on saying "yesterday".
  document.addEventListener("visibilitychange", () => bar.draw(say, language));
  await drawMap();
}
