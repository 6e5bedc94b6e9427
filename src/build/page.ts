/** The shell of the map page, and the plain page inside it: what is here, how old it is, which file to take. The plain page needs no script and no server. */

import { type FormatName, formatNames } from "../formats/index.js";
import { escapeXml } from "../formats/xml.js";
import { PAGE_POLICY } from "../hosts/policy.js";
import type { BBox } from "../place.js";
import type { Manifest } from "../release/manifest.js";
import { saveName } from "../release/paths.js";
import { categories, categoryNumbers } from "../taxonomy.js";

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

/** What the page knows before it asks for anything: `page.json`. */
export interface PageFacts extends Facts {
  readonly generator: string;
  readonly bbox: BBox | null;
  /** Beyond this box the map does not go. */
  readonly box: BBox;
  readonly extraKeys: readonly string[];
  /** Largest zoom of the tiles; null without tiles. */
  readonly maxZoom: number | null;
  /** The operator's own map below the places: whom it names (HTML), and what tells its bytes from another's. */
  readonly basemap: { readonly credit: string; readonly version: string } | null;
  /** Bytes of each export, by its path. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** `app.webmanifest`: what a phone needs to put the page on its home screen. */
export function webManifest({ title }: Pick<Facts, "title">): string {
  const manifest = {
    name: title,
    short_name: "Shelters",
    start_url: "./",
    display: "standalone",
    background_color: "#f6f4ef",
    theme_color: "#2f4a3a",
    icons: [{ src: "icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any maskable" }],
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** `index.html`. Links are relative, so the page works on any static host and in any folder. */
export function pageHtml(facts: Omit<PageFacts, "box">): string {
  const whole = [
    { name: "All regions", slug: "all", count: facts.count, categories: facts.categories },
    ...facts.regions,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
<meta name="description" content="${facts.count} mountain refuges, huts and shelters: map, list and files for GPS, phone and GIS.">
<meta name="theme-color" content="#2f4a3a">
<title>${escapeXml(facts.title)}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="manifest" href="app.webmanifest">
<link rel="stylesheet" href="style.css">
<script defer src="app.js"></script>
<link rel="service-desc" href="openapi.json" type="application/json">
<link rel="license" href="terms.txt">
</head>
<body>
<main id="plain" class="plain">
<h1>${escapeXml(facts.title)}</h1>
<p class="lead"><strong>${facts.count}</strong> places. Data of <time datetime="${facts.date}">${facts.date.slice(0, 10)}</time>. Not for navigation: check every position and opening date before you trust your night to it.</p>
<h2>Which file?</h2>
<p>GPX for a GPS or a hiking app, KML for Google Earth and Organic Maps, CSV for a spreadsheet, GeoJSON for a map or a GIS, JSON for a program. Phones like small files: take your region and category rather than everything.</p>
<p><a href="downloads.html">Which file for Garmin, OsmAnd, Organic Maps, Locus, Google Earth, QGIS, Excel?</a></p>
<div class="wide">
<table>
<thead><tr><th scope="col">Region</th><th scope="col">Category</th><th scope="col" class="number">Places</th><th scope="col">Files</th></tr></thead>
${whole.map((region) => regionRows(region, facts.sizes)).join("\n")}
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

function regionRows(
  region: {
    readonly name: string;
    readonly slug: string;
    readonly count: number;
    readonly categories: Readonly<Record<string, number>>;
  },
  sizes: PageFacts["sizes"],
): string {
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
    const links = formatNames.map((format) => {
      const path = `exports/${region.slug}/${slug}.${format}`;
      const size = `${Math.ceil((sizes[path] ?? 0) / 1000)} kB`;
      return `<a href="${path}" download="${saveName(path)}" title="${size}">${FORMAT_TITLES[format]}</a>`;
    });
    return `<tr>${heading}<td>${escapeXml(label)}</td><td class="number">${count}</td><td class="files">${links.join(" ")}</td></tr>`;
  });
  return `<tbody>${cells.join("\n")}</tbody>`;
}

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
