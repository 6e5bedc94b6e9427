/** The map's place on the page, with its own buttons; and the words that stand there when nothing can be drawn. */

import { TOPOGRAPHIC_HOST } from "../hosts/policy.js";
import { drawing, el } from "./dom.js";
import type { PageFacts } from "./model.js";
import type { Say, Word } from "./words.js";

interface StageOptions {
  readonly facts: PageFacts;
  readonly onZoom: (by: 1 | -1) => void;
  readonly onWhole: () => void;
  readonly onTopographic: (layer: { readonly address: string; readonly credit: string } | null) => void;
}

/** Whether this browser can draw a map at all. */
export function canDraw(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}

const MOUNTAINS =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M2 19 9 6l4.5 8L16 10l6 9z" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round"/></svg>';

export function createStage({ facts, onZoom, onWhole, onTopographic }: StageOptions) {
  const map = el("div", { id: "map", class: "map" });
  const tools = el("div", { class: "tools" });
  const credit = el("p", { class: "credit" });
  const element = el("main", { class: "stage" }, map, tools, credit);
  let isTopographic = false;
  let why: Word | null = null;

  const drawCredit = (say: Say): void => {
    const ground = facts.basemap === null ? say("background") : textOf(facts.basemap.credit);
    credit.textContent = why !== null ? "" : isTopographic ? say("topographicNote") : ground;
  };
  const showLayer = (): void => {
    const layer = tools.querySelector<HTMLElement>("#topographic");
    if (layer !== null) layer.hidden = !navigator.onLine;
  };
  addEventListener("online", showLayer);
  addEventListener("offline", showLayer);

  const draw = (say: Say): void => {
    element.setAttribute("aria-label", say("map"));
    if (why !== null) {
      map.replaceChildren(el("p", { class: "why-not" }, say(why)));
      tools.replaceChildren();
      drawCredit(say);
      return;
    }
    const button = (word: Word, sign: string, click: () => void) =>
      el("button", { type: "button", title: say(word), "aria-label": say(word), on: { click } }, sign);
    const layer = el(
      "button",
      {
        type: "button",
        id: "topographic",
        class: "layer",
        title: say("topographicNote"),
        "aria-label": say("topographic"),
        "aria-pressed": String(isTopographic),
      },
      drawing(MOUNTAINS, "symbol"),
      el("span", {}, say("topographic")),
    );
    layer.addEventListener("click", () => {
      isTopographic = !isTopographic;
      layer.setAttribute("aria-pressed", String(isTopographic));
      onTopographic(isTopographic ? topographicLayer(say) : null);
      drawCredit(say);
    });
    layer.hidden = !navigator.onLine;
    drawCredit(say);
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

/** What HTML says, without its markup; nothing in it is run or loaded. */
function textOf(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
}

function topographicLayer(say: Say) {
  return { address: `${TOPOGRAPHIC_HOST}/{z}/{x}/{y}.png`, credit: say("topographicNote") };
}
