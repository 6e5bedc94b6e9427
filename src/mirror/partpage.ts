/** What stands in a copy whose own page has not come yet: a page that says so in four languages, and lists what has come. */

import { escapeXml } from "../formats/xml.js";
import type { Manifest, ManifestFile } from "../release/manifest.js";
import { categories, categoryNumbers, type Language } from "../taxonomy.js";

const WORDS: Readonly<Record<Language, (came: number, missing: number, date: string) => string>> = {
  fr: (came, missing, date) =>
    `Cette copie n'est pas encore complète : ${came} fichiers sont là, ${missing} manquent. Données du ${date}. Un refuge qui n'est pas dans ces fichiers peut exister.`,
  es: (came, missing, date) =>
    `Esta copia aún no está completa: hay ${came} archivos y faltan ${missing}. Datos del ${date}. Puede existir un refugio que no esté en estos archivos.`,
  ca: (came, missing, date) =>
    `Aquesta còpia encara no és completa: hi ha ${came} fitxers i en falten ${missing}. Dades del ${date}. Pot existir un refugi que no sigui en aquests fitxers.`,
  en: (came, missing, date) =>
    `This copy is not complete yet: ${came} files are here, ${missing} are still to come. Data of ${date}. There may be a hut that is not in these files.`,
};

/** `index.html` for a copy that lacks its own; nothing where it has it. The complete release writes over it. */
export function partPage(part: Manifest): ReadonlyMap<string, string> {
  if (part.files.some(({ path }) => path === "index.html")) return new Map();
  const { title, attribution, license, date, files, missing = 0 } = part;
  const notes = Object.entries(WORDS).map(
    ([language, say]) => `<p lang="${language}">${say(files.length, missing, date.slice(0, 10))}</p>`,
  );
  const rows = files.filter(({ path }) => path.startsWith("exports/all/")).map(row);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
</head>
<body>
<h1>${escapeXml(title)}</h1>
${notes.join("\n")}
<table>
${rows.join("\n")}
</table>
<p>${escapeXml(attribution)} ${escapeXml(license)}</p>
</body>
</html>
`;
  return new Map([["index.html", html]]);
}

function row({ path, bytes, places }: ManifestFile): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const category = categoryNumbers.find((number) => name.startsWith(`${number}.`));
  const label = category === undefined ? "" : Object.values(categories[category].labels).join(" · ");
  return `<tr><td><a href="${escapeXml(path)}">${escapeXml(name)}</a><td>${escapeXml(label)}<td>${places ?? ""}<td>${(bytes / 1000).toFixed(1)} kB`;
}
