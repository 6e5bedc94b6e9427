/** What people on a local network need to find the server: addresses, a QR code, and a sheet of paper to pin up. */

import { networkInterfaces } from "node:os";
import { renderSVG, renderUnicodeCompact } from "uqr";
import { escapeXml } from "../formats/xml.js";

const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|utun|tun|tap|zt|wg)/i;
const PRIVATE = /^(192\.168\.|10\.|172\.(1[6-9]|2\d|3[01])\.)/;

/** Addresses of this machine that others on the network can reach, the likeliest first; empty without a network. */
export function lanAddresses(port: number): string[] {
  return Object.entries(networkInterfaces())
    .flatMap(([name, addresses = []]) => addresses.map((address) => ({ name, ...address })))
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .sort((a, b) => rankOf(a) - rankOf(b))
    .map(({ address }) => `http://${address}:${port}/`);
}

function rankOf({ name, address }: { readonly name: string; readonly address: string }): number {
  return (VIRTUAL.test(name) ? 2 : 0) + (PRIVATE.test(address) ? 0 : 1);
}

/** A QR code of half blocks, for a terminal of any colours: dark on light is drawn by the blocks themselves. */
export function qrText(address: string): string {
  return renderUnicodeCompact(address, { border: 2 });
}

const WORDS = [
  {
    lang: "fr",
    title: "Refuges et cabanes, sans internet",
    steps: ["Rejoignez ce Wi-Fi.", "Ouvrez l'adresse, ou visez le code."],
    what: "Carte, liste, fichiers GPX pour le téléphone ou le GPS. Vérifiez chaque position avant d'y confier votre nuit.",
  },
  {
    lang: "es",
    title: "Refugios y cabañas, sin internet",
    steps: ["Conéctese a este Wi-Fi.", "Abra la dirección o apunte al código."],
    what: "Mapa, lista, archivos GPX para el móvil o el GPS. Compruebe cada posición antes de confiarle la noche.",
  },
  {
    lang: "ca",
    title: "Refugis i cabanes, sense internet",
    steps: ["Connecteu-vos a aquest Wi-Fi.", "Obriu l'adreça o enfoqueu el codi."],
    what: "Mapa, llista, fitxers GPX per al mòbil o el GPS. Comproveu cada posició abans de confiar-hi la nit.",
  },
  {
    lang: "en",
    title: "Huts and shelters, without internet",
    steps: ["Join this Wi-Fi.", "Open the address, or scan the code."],
    what: "Map, list, GPX files for phone or GPS. Check every position before you trust your night to it.",
  },
] as const;

/** An A4 page (HTML, to print) with the address and its QR code; without a `wifi` name, a line to write it on. */
export function sheetHtml(facts: {
  readonly address: string;
  readonly wifi: string | null;
  readonly title: string;
  readonly date: string;
  readonly attribution: string;
}): string {
  const wifi = facts.wifi === null ? '<span class="blank"></span>' : escapeXml(facts.wifi);
  const blocks = WORDS.map(
    ({ lang, title, steps, what }) => `<section lang="${lang}">
<h2>${title}</h2>
<ol>${steps.map((step) => `<li>${step}</li>`).join("")}</ol>
<p>${what}</p>
</section>`,
  );
  return `<!doctype html>
<html lang="fr">
<head>
<meta charset="utf-8">
<title>${escapeXml(facts.title)}</title>
<style>
@page { size: A4; margin: 14mm; }
* { box-sizing: border-box; margin: 0; padding: 0; }
body { min-height: 265mm; display: flex; flex-direction: column; align-items: center; justify-content: space-between;
  font: 11.5pt/1.35 system-ui, sans-serif; text-align: center; color: #000; background: #fff; }
h1 { font-size: 27pt; line-height: 1.15; overflow-wrap: anywhere; }
h2 { font-size: 13pt; margin-bottom: 1mm; }
.step { display: flex; align-items: baseline; justify-content: center; gap: 5mm; font-size: 21pt; margin-bottom: 3mm; }
.step b { flex: none; width: 11mm; line-height: 11mm; border-radius: 50%; font-size: 17pt; color: #fff; background: #000;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.blank { display: inline-block; width: 90mm; border-bottom: 0.5mm dotted #000; }
.address { font: bold 22pt ui-monospace, monospace; overflow-wrap: anywhere; }
svg { display: block; width: 98mm; height: 98mm; }
.languages { display: grid; grid-template-columns: 1fr 1fr; gap: 5mm 9mm; width: 100%; text-align: left; }
section { border-top: 0.5mm solid #000; padding-top: 2mm; }
ol { padding-left: 5mm; margin-bottom: 1mm; }
section p { font-size: 9.5pt; }
footer { font-size: 9pt; }
</style>
</head>
<body>
<h1>${escapeXml(facts.title)}</h1>
<div>
<p class="step"><b>1</b><span>Wi-Fi: ${wifi}</span></p>
<p class="step"><b>2</b><span class="address">${escapeXml(facts.address)}</span></p>
</div>
${renderSVG(facts.address, { border: 2, ecc: "M" })}
<div class="languages">
${blocks.join("\n")}
</div>
<footer>${escapeXml(facts.attribution)} ${escapeXml(facts.date.slice(0, 10))}</footer>
</body>
</html>
`;
}
