/** All about one place: what it is, where exactly, how to take the position along, and how old the word is. */

import { symbolSvg } from "../symbols.js";
import { appearanceOf, type Language } from "../taxonomy.js";
import { ageOf } from "./age.js";
import { formatDegrees, formatDms, formatUtm } from "./coordinates.js";
import { loadRecord, type PlaceRecord } from "./details.js";
import { drawing, el } from "./dom.js";
import type { PageFacts, PlaceEntry } from "./model.js";
import { longDate, type Say } from "./words.js";

export function createCard({ facts, onClose }: { readonly facts: PageFacts; readonly onClose: () => void }) {
  const element = el("aside", { class: "card", id: "card", tabindex: "-1" });
  element.hidden = true;
  let shown: number | null = null;
  return {
    element,
    show: (place: PlaceEntry | null, say: Say, language: Language): void => {
      const isNew = place !== null && place.id !== shown;
      shown = place?.id ?? null;
      element.hidden = place === null;
      if (place === null) {
        element.replaceChildren();
        return;
      }
      const story = el("div", { class: "story" });
      element.setAttribute("aria-label", place.name);
      element.replaceChildren(
        ...contents(place, say, language, onClose),
        story,
        ...footer(facts, say, language),
      );
      if (isNew) element.scrollTop = 0;
      if (isNew) element.focus({ preventScroll: true });
      loadRecord(facts, place).then((record) => {
        if (shown === place.id && record !== null) story.replaceChildren(...tell(record, say));
      });
    },
  };
}

function contents(place: PlaceEntry, say: Say, language: Language, onClose: () => void): HTMLElement[] {
  const close = el(
    "button",
    { type: "button", class: "close", "aria-label": say("close"), on: { click: onClose } },
    "×",
  );
  const head = el(
    "div",
    { class: "card-head" },
    drawing(symbolSvg(place.category, 40), "symbol"),
    el(
      "div",
      {},
      el("h2", {}, place.name),
      el("p", { class: "kind" }, appearanceOf(place.category).labels[language]),
    ),
    close,
  );
  const number = (value: number | null, unit = ""): string =>
    value === null ? say("unknown") : `${value.toLocaleString(language)}${unit}`;
  const rows: readonly (readonly [string, string] | null)[] = [
    [say("altitude"), number(place.altitude, " m")],
    [say("sleepsSummer"), number(place.summer)],
    place.winter === null ? null : [say("sleepsWinter"), number(place.winter)],
    [say("region"), place.region ?? say("unknown")],
    place.commune === "" ? null : [say("commune"), place.commune],
  ];
  const list = el(
    "dl",
    {},
    ...rows
      .filter((row) => row !== null)
      .map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
  );
  return [head, list, positions(place, say), links(place, say)];
}

function positions({ lon, lat }: PlaceEntry, say: Say): HTMLElement {
  const forms = [formatDegrees(lon, lat), formatDms(lon, lat), formatUtm(lon, lat)];
  return el(
    "section",
    { class: "positions" },
    el("h3", {}, say("position")),
    ...forms
      .filter((form) => form !== null)
      .map((form) => el("p", {}, el("code", {}, form), copyButton(form, say("copy"), say))),
  );
}

function links({ id, lon, lat, name }: PlaceEntry, say: Say): HTMLElement {
  const share = new URL(`#${id}`, document.baseURI).href;
  return el(
    "p",
    { class: "links" },
    el(
      "a",
      { class: "button", href: `geo:${lat},${lon}?q=${lat},${lon}(${encodeURIComponent(name)})` },
      say("openIn"),
    ),
    copyButton(share, say("share"), say),
  );
}

/** Copies where the browser lets it; else it selects the text, so that a hand can. */
function copyButton(text: string, label: string, say: Say): HTMLElement {
  const button = el("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    const isCopied = await copy(text);
    button.textContent = isCopied ? say("copied") : text;
    if (isCopied) setTimeout(() => button.replaceChildren(label), 2000);
  });
  return button;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard is for https and localhost only; the old way works on a plain address.
    const field = el("textarea", { readonly: true, class: "off-screen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}

/** Description, comment, and the address at the source, which is shown only when it is one. */
function tell(record: PlaceRecord, say: Say): HTMLElement[] {
  const texts = [record["descriptif"], record["commentaire"]].filter(
    (text): text is string => typeof text === "string" && text.trim() !== "",
  );
  const url = String(record["url"] ?? "");
  const source = /^https?:\/\//.test(url)
    ? [el("p", {}, el("a", { href: url, rel: "noreferrer external", target: "_blank" }, say("source")))]
    : [];
  return [...texts.map((text) => el("p", { class: "text" }, text)), ...source];
}

function footer(facts: PageFacts, say: Say, language: Language): HTMLElement[] {
  const date = longDate(facts.date, language);
  const { warning } = ageOf(facts.date, Date.now(), say, language);
  return [
    ...(warning === null ? [] : [el("p", { class: "age old" }, warning)]),
    el("p", { class: "fine" }, `${say("dataAge", { date })}. ${say("notForNavigation")}`),
    el("p", { class: "fine" }, `${facts.attribution} ${facts.license}`),
  ];
}
