/** The README that travels with a packed copy, in the four languages of the Pyrenees and its visitors. */

import type { Manifest } from "./manifest.js";

type Facts = Pick<Manifest, "title" | "attribution" | "license" | "date" | "count">;

/** Plain text, lines ended as every system reads them. */
export function packReadme(facts: Facts): string {
  const day = facts.date.slice(0, 10);
  const head = `${facts.title}\n${day}\n\n${facts.attribution}\n${facts.license}\n`;
  return [head, french(facts, day), spanish(facts, day), catalan(facts, day), english(facts, day)]
    .join("\n----------------------------------------------------------------------\n\n")
    .replaceAll("\n", "\r\n");
}

function french({ count }: Facts, day: string): string {
  return `FRANÇAIS

${count} refuges, cabanes et abris, données du ${day}. Tout fonctionne sans internet.

Regarder : ouvrez index.html. Prendre un fichier : dossier exports
(GPX pour un GPS, KML pour une carte, CSV pour un tableur).
Vérifier la copie : sha256sum -c SHA256SUMS, ou : shelters verify --site .
La servir à tout un refuge : shelters serve --lan --site .
La recopier ailleurs : shelters mirror CE_DOSSIER --site AUTRE_DOSSIER

Ce n'est pas un instrument de navigation : vérifiez chaque position et chaque
date d'ouverture avant d'y confier votre nuit.
`;
}

function spanish({ count }: Facts, day: string): string {
  return `ESPAÑOL

${count} refugios, cabañas y abrigos, datos del ${day}. Todo funciona sin internet.

Mirar: abra index.html. Tomar un archivo: carpeta exports
(GPX para un GPS, KML para un mapa, CSV para una hoja de cálculo).
Comprobar la copia: sha256sum -c SHA256SUMS, o bien: shelters verify --site .
Servirla a todo un refugio: shelters serve --lan --site .
Copiarla a otro lugar: shelters mirror ESTA_CARPETA --site OTRA_CARPETA

No es un instrumento de navegación: compruebe cada posición y cada fecha de
apertura antes de confiarle la noche.
`;
}

function catalan({ count }: Facts, day: string): string {
  return `CATALÀ

${count} refugis, cabanes i abrics, dades del ${day}. Tot funciona sense internet.

Mirar: obriu index.html. Agafar un fitxer: carpeta exports
(GPX per a un GPS, KML per a un mapa, CSV per a un full de càlcul).
Comprovar la còpia: sha256sum -c SHA256SUMS, o bé: shelters verify --site .
Servir-la a tot un refugi: shelters serve --lan --site .
Copiar-la a un altre lloc: shelters mirror AQUESTA_CARPETA --site UNA_ALTRA

No és un instrument de navegació: comproveu cada posició i cada data
d'obertura abans de confiar-hi la nit.
`;
}

function english({ count }: Facts, day: string): string {
  return `ENGLISH

${count} huts, refuges and shelters, data of ${day}. Everything works without internet.

To look: open index.html. To take a file: folder exports
(GPX for a GPS, KML for a map, CSV for a spreadsheet).
To check the copy: sha256sum -c SHA256SUMS, or: shelters verify --site .
To serve it to a whole refuge: shelters serve --lan --site .
To copy it elsewhere: shelters mirror THIS_FOLDER --site OTHER_FOLDER

Not for navigation: check every position and opening date before you trust
your night to it.
`;
}
