/** The map's place on the page, with its own buttons; and the words that stand there when nothing can be drawn. */

import { TOPOGRAPHIC_HOST } from "../page.js";
import { el } from "./dom.js";
import type { Say, Word } from "./words.js";

interface StageOptions {
  readonly onZoom: (by: 1 | -1) => void;
  readonly onWhole: () => void;
  readonly onTopographic: (layer: { readonly address: string; readonly credit: string } | null) => void;
}

export function createStage({ onZoom, onWhole, onTopographic }: StageOptions) {
  const map = el("div", { id: "map", class: "map" });
  const tools = el("div", { class: "tools" });
  const element = el("main", { class: "stage" }, map, tools);
  let isTopographic = false;
  let why: Word | null = null;

  const draw = (say: Say): void => {
    element.setAttribute("aria-label", say("map"));
    if (why !== null) {
      map.replaceChildren(el("p", { class: "why-not" }, say(why)));
      tools.replaceChildren();
      return;
    }
    const button = (word: Word, sign: string, click: () => void) =>
      el("button", { type: "button", title: say(word), "aria-label": say(word), on: { click } }, sign);
    const topographic = el("input", { type: "checkbox", id: "topographic", checked: isTopographic });
    topographic.addEventListener("change", () => {
      isTopographic = topographic.checked;
      onTopographic(isTopographic ? topographicLayer(say) : null);
    });
    const layer = el(
      "label",
      { class: "layer", title: say("topographicNote") },
      topographic,
      say("topographic"),
    );
    layer.hidden = !navigator.onLine;
    addEventListener("online", () => {
      layer.hidden = false;
    });
    addEventListener("offline", () => {
      layer.hidden = true;
    });
    tools.replaceChildren(
      el(
        "div",
        { class: "buttons" },
        button("zoomIn", "+", () => onZoom(1)),
        button("zoomOut", "−", () => onZoom(-1)),
        button("wholeArea", "⤢", onWhole),
      ),
      layer,
    );
  };
  return {
    element,
    map,
    draw,
    sayWhyNot: (word: Word, say: Say): void => {
      why = word;
      element.classList.add("undrawn");
      draw(say);
    },
  };
}

function topographicLayer(say: Say) {
  return { address: `${TOPOGRAPHIC_HOST}/{z}/{x}/{y}.png`, credit: say("topographicNote") };
}
