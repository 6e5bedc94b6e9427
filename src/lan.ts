/** What people on a local network need to find the server: addresses, a QR code, and a sheet of paper to pin up. */

import { networkInterfaces } from "node:os";
import { renderSVG, renderUnicodeCompact } from "uqr";
import { escapeXml } from "./formats/xml.js";

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
    open: "puis ouvrez cette adresse, ou visez le code",
  },
  {
    lang: "es",
    title: "Refugios y cabañas, sin internet",
    open: "después abra esta dirección o apunte al código",
  },
  {
    lang: "ca",
    title: "Refugis i cabanes, sense internet",
    open: "després obriu aquesta adreça o enfoqueu el codi",
  },
  {
    lang: "en",
    title: "Huts and shelters, without internet",
    open: "then open this address, or scan the code",
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
    ({ lang, title, open }) => `<section lang="${lang}"><h2>${title}</h2><p>${open}.</p></section>`,
  );
  return `<!doctype html>
<html lang="fr">
<head>
<meta charset="utf-8">
<title>${escapeXml(facts.title)}</title>
<style>
@page { size: A4; margin: 15mm; }
body { font: 14pt/1.35 system-ui, sans-serif; text-align: center; color: #000; background: #fff; margin: 0; }
h1 { font-size: 26pt; margin: 0 0 4mm; }
h2 { font-size: 14pt; margin: 0; }
p { margin: 0 0 2mm; }
.wifi { font-size: 22pt; margin: 4mm; }
.blank { display: inline-block; width: 90mm; border-bottom: 0.5mm dotted #000; }
.address { font: bold 24pt ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 95mm; height: 95mm; }
footer { font-size: 9pt; }
</style>
</head>
<body>
<h1>${escapeXml(facts.title)}</h1>
<p class="wifi">Wi-Fi: ${wifi}</p>
<p class="address">${escapeXml(facts.address)}</p>
${renderSVG(facts.address, { border: 2, ecc: "M" })}
${blocks.join("\n")}
<footer>${escapeXml(facts.attribution)} ${escapeXml(facts.date.slice(0, 10))}</footer>
</body>
</html>
`;
}
