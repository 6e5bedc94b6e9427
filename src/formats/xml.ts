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

/**
 * The address when it is an absolute http(s) URL, else null. Browsers let characters pass that RFC 3986 and so the XML
 * type anyURI do not, such as `[` in a query: they are percent-encoded.
 */
export function webAddress(url: string): string | null {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  const [, site = "", rest = "", fragment = ""] =
    /^(https?:\/\/[^/?#]*)([^#]*)(.*)$/.exec(new URL(url).href) ?? [];
  return site + encodeUnsafe(rest) + fragment.slice(0, 1) + encodeUnsafe(fragment.slice(1));
}

function encodeUnsafe(text: string): string {
  return text.replace(/[#[\]{}|^`\\]|%(?![0-9a-f]{2})/gi, encodeURIComponent);
}
