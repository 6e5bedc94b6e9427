/** The downloads: what the visitor sees, as a file; and the ready-made files of each region and category. */

import { appearanceOf, type Category, categoryNumbers, type Language } from "../taxonomy.js";
import { isOnDisk } from "./data.js";
import { documentOf, type Scope } from "./documents.js";
import { el } from "./dom.js";
import type { FormatName } from "./formats.js";
import { isInside, matcher, type PageFacts, packPath } from "./model.js";
import type { Say } from "./words.js";

const TITLES = { gpx: "GPX", kml: "KML", csv: "CSV", geojson: "GeoJSON" } as const;
type Offered = keyof typeof TITLES;
const OFFERED: readonly Offered[] = ["gpx", "kml", "csv", "geojson"];
/** Ready-made files, by their extension: what only the build can write is among them. */
const PACKS = {
  gpx: "GPX",
  kmz: "KMZ",
  kml: "KML",
  csv: "CSV",
  "excel.csv": "Excel",
  geojson: "GeoJSON",
} as const;
const MANY = 1000; // waypoints, beyond which phones and watches choke

/** Opens the dialog. */
export function openDownloads(scope: Scope, say: Say, language: Language): void {
  const dialog = el("dialog", { class: "downloads", "aria-label": say("downloads") });
  const close = el("button", { type: "button", class: "close", "aria-label": say("close") }, "×");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(
    el("div", { class: "dialog-head" }, el("h2", {}, say("downloads")), close),
    seen(scope, say, language),
    packs(scope.facts, scope.choice.region, say, language),
    el(
      "p",
      { class: "fine" },
      say("notForNavigation"),
      " ",
      el("a", { href: "terms.txt" }, say("terms")),
      " · ",
      el("a", { href: "licenses.txt" }, say("about")),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** The current filter, in the map view or everywhere. */
function seen(scope: Scope, say: Say, language: Language): HTMLElement {
  const matching = scope.places.filter(matcher(scope.choice));
  const { box } = scope;
  const inView = box === null ? [] : matching.filter((place) => isInside(place, box));
  let isView = box !== null;
  const buttons = el("div", { class: "formats" });
  const note = el("p", { class: "note", role: "status" });
  const draw = (): void => {
    const count = isView ? inView.length : matching.length;
    const asked: Scope = isView ? scope : { ...scope, box: null };
    note.textContent = count > MANY ? say("manyForPhone") : "";
    buttons.replaceChildren(
      ...OFFERED.map((format) => formatButton(asked, format, count, note, say, language)),
    );
  };
  const radio = (word: "scopeView" | "scopeFilter", n: number, isThis: boolean) => {
    const input = el("input", { type: "radio", name: "scope", checked: isView === isThis });
    input.addEventListener("change", () => {
      isView = isThis;
      draw();
    });
    return el("label", {}, input, say(word, { n: n.toLocaleString(language) }));
  };
  draw();
  return el(
    "section",
    {},
    el("h3", {}, say("whatYouSee")),
    el(
      "div",
      { class: "scopes" },
      box === null ? null : radio("scopeView", inView.length, true),
      radio("scopeFilter", matching.length, false),
    ),
    buttons,
    note,
  );
}

function formatButton(
  scope: Scope,
  format: Offered,
  count: number,
  note: HTMLElement,
  say: Say,
  language: Language,
) {
  const { facts } = scope;
  // What the whole export takes a place: near enough to say before the file is made.
  const expected = ((facts.sizes[`exports/all/all.${format}`] ?? 0) / Math.max(1, facts.count)) * count;
  const button = el(
    "button",
    { type: "button", "data-format": format, disabled: count === 0 },
    el("strong", {}, TITLES[format]),
    el("span", {}, say(format)),
    el("small", {}, `≈ ${size(expected, language)}`),
  );
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      save(await documentOf(scope, format, count), nameOf(scope, format));
    } catch (error) {
      note.textContent = say("failed", { why: error instanceof Error ? error.message : String(error) });
    }
    button.disabled = false;
  });
  return button;
}

function nameOf({ facts, choice, box }: Scope, format: FormatName): string {
  const slug = facts.regions.find(({ name }) => name === choice.region)?.slug ?? "all";
  const categories =
    [...choice.categories]
      .map((category) => category ?? "unknown")
      .sort()
      .join("-") || "all";
  return `places-${slug}-${categories}${box === null ? "" : "-view"}.${format}`;
}

function save(document_: Blob, name: string): void {
  const address = URL.createObjectURL(document_);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may still be reading
}

/** Table of the ready-made files of a region that can be chosen. */
function packs(facts: PageFacts, chosen: string | null, say: Say, language: Language): HTMLElement {
  const region = el(
    "select",
    { "aria-label": say("region") },
    el("option", { value: "" }, say("allRegions")),
    ...facts.regions.map(({ name }) => el("option", { value: name, selected: name === chosen }, name)),
  );
  const note = el("p", { class: "note", role: "status" });
  const body = el("tbody");
  const draw = (): void => {
    const name = region.value === "" ? null : region.value;
    const rows = packRows(facts, name, say, language);
    body.replaceChildren(...rows.map((row) => drawPackRow(facts, name, row, note, say, language)));
  };
  region.addEventListener("change", draw);
  draw();
  const heading = (text: string, name = "words") => el("th", { scope: "col", class: name }, text);
  const head = el("tr", {}, heading(say("category")), heading(say("count"), "number"), heading(say("files")));
  const which = language === "en" ? "downloads.html" : `downloads.${language}.html`;
  return el(
    "section",
    {},
    el("h3", {}, say("packs")),
    el("p", { class: "hint" }, say("packHint"), " ", el("a", { href: which }, say("whichFile"))),
    region,
    note,
    el(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": say("packs") },
      el("table", {}, el("thead", {}, head), body),
    ),
  );
}

interface PackRow {
  /** null = all of them. */
  readonly category: Category | null;
  readonly label: string;
  readonly count: number;
}

function packRows(facts: PageFacts, region: string | null, say: Say, language: Language): PackRow[] {
  const counted = facts.regions.find(({ name }) => name === region) ?? facts;
  const rows = categoryNumbers.map((category) => ({
    category,
    label: appearanceOf(category).labels[language],
    count: counted.categories[category] ?? 0,
  }));
  const all = { category: null, label: say("allCategories"), count: counted.count };
  return [all, ...rows].filter(({ count }) => count > 0);
}

function drawPackRow(
  facts: PageFacts,
  region: string | null,
  { category, label, count }: PackRow,
  note: HTMLElement,
  say: Say,
  language: Language,
) {
  const links = Object.entries(PACKS).map(([extension, title]) => {
    const path = packPath(facts, region, category, extension);
    const link = el(
      "a",
      { href: path, download: path.replace("exports/", "places-").replace("/", "-") },
      `${title} `,
      el("small", {}, size(facts.sizes[path] ?? 0, language)),
    );
    // A browser would only say that a download failed; on a disk it opens the file itself.
    if (!isOnDisk()) link.addEventListener("click", (event) => takePack(event, link, note, say));
    return link;
  });
  const isMany = count > MANY;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, label),
    el(
      "td",
      { class: "number", title: isMany ? say("manyForPhone") : null },
      `${count.toLocaleString(language)}${isMany ? " ⚠" : ""}`,
    ),
    el("td", {}, el("div", { class: "files" }, ...links)),
  );
}

async function takePack(event: Event, link: HTMLAnchorElement, note: HTMLElement, say: Say): Promise<void> {
  event.preventDefault();
  note.textContent = "";
  const answer = await fetch(link.href).catch(() => null);
  if (answer?.ok) save(await answer.blob(), link.download);
  else note.textContent = say("packNeedsServer");
}

/** 12345 bytes as "12 kB". */
function size(bytes: number, language: Language): string {
  const [value, unit] =
    bytes >= 999_500 ? [bytes / 1e6, "MB"] : [Math.max(bytes === 0 ? 0 : 1, bytes / 1000), "kB"];
  return `${value.toLocaleString(language, { maximumFractionDigits: unit === "MB" ? 1 : 0 })} ${unit}`;
}
