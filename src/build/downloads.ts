/** The downloads table: for each program which file, by region and category, with size and count; for people and for programs. */

import type { FileFormatName } from "../formats/index.js";
import { escapeXml } from "../formats/xml.js";
import type { Provenance } from "../place.js";
import { saveName } from "../release/paths.js";
import { symbolSvg } from "../symbols.js";
import { appearanceOf, type Language } from "../taxonomy.js";
import type { TextFile } from "./contract.js";
import type { WrittenExport } from "./exports.js";
import { downloadWords, languageNames, programs, WAYPOINT_WARNING } from "./programs.js";

export interface DownloadsAbout extends Provenance {
  readonly generation: string;
}

/** A file that a person may take. */
export type Download = Pick<WrittenExport, "path" | "format" | "region" | "category" | "count" | "bytes">;

const languages = ["en", "fr", "es", "ca"] as const satisfies readonly Language[];

/** `downloads.json` and a page in each language; `whole` is the GeoPackage, which has no parts. */
export function downloadFiles(
  about: DownloadsAbout,
  exports: readonly Download[],
  whole: { readonly path: string; readonly bytes: number },
): TextFile[] {
  const offered = exports.filter(({ count }) => count > 0);
  return [
    { path: "downloads.json", mediaType: "application/json", text: table(about, offered, whole) },
    ...languages.map((language) => ({
      path: pagePath(language),
      mediaType: "text/html; charset=utf-8",
      text: page(about, offered, whole, language),
    })),
  ];
}

function pagePath(language: Language): string {
  return language === "en" ? "downloads.html" : `downloads.${language}.html`;
}

/** One file a line: short to read by eye, and to compare. */
function table(
  { title, attribution, license, date, generation }: DownloadsAbout,
  exports: readonly Download[],
  whole: { readonly path: string; readonly bytes: number },
): string {
  const handheld = new Set(
    programs.filter(({ isHandheld }) => isHandheld).flatMap(({ formats }) => Object.values(formats)),
  );
  const head = {
    title,
    attribution,
    license,
    date,
    generation,
    waypointWarning: WAYPOINT_WARNING,
    programs,
    whole: { path: whole.path, bytes: whole.bytes },
  };
  const files = exports.map(({ path, format, region, category, count, bytes }) =>
    JSON.stringify({
      path,
      saveAs: saveName(path),
      format,
      region,
      category,
      count,
      bytes,
      tooManyForPhones: count > WAYPOINT_WARNING && handheld.has(format),
    }),
  );
  return `${JSON.stringify(head, null, 1).slice(0, -2)},\n "files": [\n  ${files.join(",\n  ")}\n ]\n}\n`;
}

interface Column {
  readonly title: string;
  readonly format: FileFormatName;
  readonly isHandheld: boolean;
}

function page(
  about: DownloadsAbout,
  exports: readonly Download[],
  whole: { readonly path: string; readonly bytes: number },
  language: Language,
): string {
  const text = downloadWords[language];
  const columns: readonly Column[] = [
    { title: "GPX", format: language === "fr" ? "gpx" : `${language}.gpx`, isHandheld: true },
    { title: text.simple, format: "simple.gpx", isHandheld: true },
    { title: "KMZ", format: language === "fr" ? "kmz" : `${language}.kmz`, isHandheld: true },
    { title: text.excel, format: "excel.csv", isHandheld: false },
    { title: "CSV", format: "csv", isHandheld: false },
    { title: "GeoJSON", format: "geojson", isHandheld: false },
  ];
  const advice = programs.map(
    ({ name, how }) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(how[language])}</dd>`,
  );
  const others = languages.map((other) =>
    other === language
      ? `<span lang="${other}">${languageNames[other]}</span>`
      : `<a href="${pagePath(other)}" hreflang="${other}" lang="${other}">${languageNames[other]}</a>`,
  );
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(`${text.title} - ${about.title}`)}</title>
<link rel="license" href="terms.txt">
<style>${CSS}</style>
</head>
<body>
<main>
<nav><a href="./">${escapeXml(about.title)}</a> <span class="languages">${others.join(" ")}</span></nav>
<h1>${text.title}</h1>
<p>${escapeXml(text.data(about.date.slice(0, 10)))} ${escapeXml(text.caution)}</p>
<h2>${text.which}</h2>
<dl>${advice.join("\n")}</dl>
<p><a href="${whole.path}" download="${whole.path}">places.gpkg</a> (${formatSize(whole.bytes, language)})</p>
<p class="warning">⚠ ${escapeXml(text.warning)}</p>
<div class="wide" tabindex="0" role="region" aria-label="${text.title}">
<table>
<thead><tr><th scope="col">${text.region}</th><th scope="col">${text.category}</th><th scope="col" class="number">${text.places}</th>${columns.map(({ title }) => `<th scope="col" class="number">${title}</th>`).join("")}</tr></thead>
${rows(exports, columns, language)}
</table>
</div>
<p>${escapeXml(about.attribution)} ${escapeXml(about.license)} <a href="terms.txt">${text.terms}</a>. <code>${escapeXml(about.generation)}</code></p>
</main>
</body>
</html>
`;
}

/** One group of rows per region, one row per category that has places there. */
function rows(exports: readonly Download[], columns: readonly Column[], language: Language): string {
  const byRegion = groupBy(exports, ({ region }) => region);
  return [...byRegion]
    .map(([region, files]) => {
      const byCategory = [...groupBy(files, ({ category }) => category)];
      const cells = byCategory.map(([category, forms], index) => {
        const heading = `<th scope="rowgroup" rowspan="${byCategory.length}">${escapeXml(region ?? downloadWords[language].all)}</th>`;
        const label =
          category === null ? downloadWords[language].all : appearanceOf(category).labels[language];
        const symbol =
          category === null ? "" : symbolSvg(category, 20).replace("<svg ", '<svg aria-hidden="true" ');
        const count = forms[0]?.count ?? 0;
        const links = columns.map((column) =>
          link(
            forms.find(({ format }) => format === column.format),
            column,
            language,
          ),
        );
        return `<tr>${index === 0 ? heading : ""}<th scope="row">${symbol} ${escapeXml(label)}</th><td class="number">${count}</td>${links.join("")}</tr>`;
      });
      return `<tbody>${cells.join("\n")}</tbody>`;
    })
    .join("\n");
}

function groupBy<Value, Key>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

function link(file: Download | undefined, { title, isHandheld }: Column, language: Language): string {
  if (file === undefined) return "<td></td>";
  const size = formatSize(file.bytes, language);
  const warning = isHandheld && file.count > WAYPOINT_WARNING ? " ⚠" : "";
  return `<td class="number"><a href="${file.path}" download="${saveName(file.path)}" aria-label="${title}, ${size}">${size}</a>${warning}</td>`;
}

/** Bytes as kB or MB (powers of 1000), in the language's digits. */
function formatSize(bytes: number, language: Language): string {
  const [value, unit, digits] = bytes < 999_500 ? [bytes / 1000, "kB", 0] : [bytes / 1e6, "MB", 1];
  const text = Math.max(value, 1).toFixed(digits);
  return `${language === "en" ? text : text.replace(".", ",")} ${unit}`;
}

const CSS = `:root{color-scheme:light dark;--line:#8884}body{margin:0;font:1rem/1.5 system-ui,sans-serif}main{max-width:64rem;margin:auto;padding:1rem}h1,h2{line-height:1.2}nav{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:space-between}.languages a,.languages span{display:inline-block;padding:.25rem}dt{font-weight:600}dd{margin:0 0 .5rem}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:start;vertical-align:top;padding:.375rem .5rem;border-block-end:1px solid var(--line)}tbody th{font-weight:400}tbody th[scope=rowgroup]{font-weight:600}svg{vertical-align:-.3em}.number{text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums}td a{display:inline-block;padding:.125rem .25rem}.warning{border-inline-start:.25rem solid #F57C00;padding-inline-start:.75rem}`;
