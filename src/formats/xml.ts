/** Escaping for XML 1.0 and for HTML inside it. Encoders escape; text was repaired when it came in. */

const XML_ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text for element content and attribute values, quotes included; line breaks stay as they are. */
export function escapeXml(text: string): string {
  return /[&<>"']/.test(text)
    ? text.replace(/[&<>"']/g, (character) => XML_ENTITIES[character] ?? character)
    : text;
}

/** `<name>text</name>`, or nothing where there is no text. */
export function element(name: string, text: string | null): string {
  return text === null || text === "" ? "" : `<${name}>${escapeXml(text)}</${name}>`;
}

/** The address when it is an absolute http(s) URL that an XML reader can take as anyURI, else null. */
export function webAddress(url: string): string | null {
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).href : null;
}
