/** The release's own page: what is here, how old it is, which file to take. Plain HTML: it needs no script and no server. */

import { type FormatName, formatNames } from "./formats/index.js";
import { escapeXml } from "./formats/xml.js";
import type { Manifest } from "./manifest.js";
import { categories, categoryNumbers } from "./taxonomy.js";

const FORMAT_TITLES: Readonly<Record<FormatName, string>> = {
  geojson: "GeoJSON",
  json: "JSON",
  csv: "CSV",
  gpx: "GPX",
  kml: "KML",
};

type Facts = Pick<
  Manifest,
  "title" | "attribution" | "license" | "date" | "generation" | "count" | "regions" | "categories"
>;

/** `index.html`. Links are relative, so the page works on any static host and in any folder. */
export function pageHtml(facts: Facts): string {
  const whole = [
    { name: "All regions", slug: "all", count: facts.count, categories: facts.categories },
    ...facts.regions,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(facts.title)}</title>
<link rel="stylesheet" href="style.css">
<link rel="service-desc" href="openapi.json" type="application/json">
<link rel="license" href="terms.txt">
</head>
<body>
<main>
<h1>${escapeXml(facts.title)}</h1>
<p class="lead"><strong>${facts.count}</strong> places. Data of <time datetime="${facts.date}">${facts.date.slice(0, 10)}</time>. Not for navigation: check every position and opening date before you trust your night to it.</p>
<h2>Which file?</h2>
<p>GPX for a GPS or a hiking app, KML for Google Earth and Organic Maps, CSV for a spreadsheet, GeoJSON for a map or a GIS, JSON for a program. Phones like small files: take your region and category rather than everything.</p>
<p><a href="downloads.html">Which file for Garmin, OsmAnd, Organic Maps, Locus, Google Earth, QGIS, Excel?</a></p>
<div class="wide">
<table>
<thead><tr><th scope="col">Region</th><th scope="col">Category</th><th scope="col" class="number">Places</th><th scope="col">Files</th></tr></thead>
${whole.map(regionRows).join("\n")}
</table>
</div>
<h2>For programs</h2>
<p><code>GET <a href="api.php?format=geojson&amp;bbox=-0.5,42.6,0.5,43">api.php?format=geojson&amp;bbox=-0.5,42.6,0.5,43</a></code> answers where this release is served by its own server; the files above are on any host. <a href="openapi.json">OpenAPI document</a>, <a href="manifest.json">manifest with checksums</a>.</p>
<h2>Source and terms</h2>
<p>${escapeXml(facts.attribution)} ${escapeXml(facts.license)} <a href="terms.txt">Terms</a>. Generation <code>${escapeXml(facts.generation)}</code>.</p>
</main>
</body>
</html>
`;
}

function regionRows(region: {
  readonly name: string;
  readonly slug: string;
  readonly count: number;
  readonly categories: Readonly<Record<string, number>>;
}): string {
  const rows = [
    { label: "All categories", slug: "all", count: region.count },
    ...categoryNumbers.map((number) => ({
      label: categories[number].labels.en,
      slug: String(number),
      count: region.categories[number] ?? 0,
    })),
  ].filter(({ slug, count }) => slug === "all" || count > 0);
  const cells = rows.map(({ label, slug, count }, index) => {
    const heading =
      index === 0 ? `<th scope="rowgroup" rowspan="${rows.length}">${escapeXml(region.name)}</th>` : "";
    const links = formatNames.map(
      (format) =>
        `<a href="exports/${region.slug}/${slug}.${format}" download="${fileName(region.slug, slug, format)}">${FORMAT_TITLES[format]}</a>`,
    );
    return `<tr>${heading}<td>${escapeXml(label)}</td><td class="number">${count}</td><td class="files">${links.join(" ")}</td></tr>`;
  });
  return `<tbody>${cells.join("\n")}</tbody>`;
}

/** Name under which an export is saved: ours, never a visitor's text. */
export function fileName(regionSlug: string, category: string, format: FormatName): string {
  return `places-${regionSlug}-${category}.${format}`;
}

export const PAGE_CSS = `:root { color-scheme: light dark; --line: #8884; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: auto; padding: 1rem; }
h1 { line-height: 1.2; }
.lead { font-size: 1.125rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: .375rem .5rem; border-block-end: 1px solid var(--line); }
tbody th { border-inline-end: 1px solid var(--line); }
.number { text-align: end; font-variant-numeric: tabular-nums; }
.files { white-space: nowrap; }
.files a { display: inline-block; padding: .125rem .375rem; }
code { overflow-wrap: anywhere; }
`;

/** `terms.txt`: what a person must know before passing the data on. */
export function termsText(facts: Facts): string {
  return `${facts.title}
Data of ${facts.date.slice(0, 10)}, generation ${facts.generation}, ${facts.count} places.

Source and attribution
${facts.attribution}

Licence of the data
${facts.license}

That a service is public does not make its data free: confirm reuse and attribution with the publisher
before you redistribute them. These data are no survey. Do not navigate by them alone.
`;
}
