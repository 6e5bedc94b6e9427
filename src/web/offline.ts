/** The line that says whether the page is saved on this device, and whether newer data wait. */

import { isOnDisk } from "./data.js";
import { el } from "./dom.js";
import type { Say, Word } from "./words.js";

/** What the service worker tells the page. */
export type WorkerMessage = { readonly kind: "saved" } | { readonly kind: "newer" };

/** Registers the service worker where browsers allow one: on https and on localhost. */
export function followOffline() {
  const element = el("p", { class: "offline", role: "status" });
  let word: Word = "offlineSaving";
  let isNewer = false;
  let say: Say | null = null;
  const draw = (): void => {
    if (say === null) return;
    const reload = el(
      "button",
      { type: "button", class: "plain-button", on: { click: () => location.reload() } },
      say("reload"),
    );
    element.replaceChildren(say(word), ...(isNewer ? [` ${say("newData")} `, reload] : []));
  };
  const become = (next: Word): void => {
    word = next;
    draw();
  };
  if (isOnDisk()) word = "offlineDisk";
  else if (!isSecureContext || !("serviceWorker" in navigator)) word = "offlineNever";
  else {
    navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => {
      if (data.kind === "newer") isNewer = true;
      become("offlineReady");
    });
    const lookForNewer = async (): Promise<void> => {
      const { active } = await navigator.serviceWorker.ready;
      active?.postMessage({ kind: "update" });
    };
    navigator.serviceWorker.register("sw.js").then(lookForNewer, () => become("offlineNever"));
    // A page may stay open for days, and walk from one network to the next.
    addEventListener("online", lookForNewer);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") lookForNewer();
    });
  }
  return {
    element,
    draw: (words: Say): void => {
      say = words;
      draw();
    },
  };
}
