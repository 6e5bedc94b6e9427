/** Elements from words: the page is built by code, so that no text of a source is ever read as markup. */

type Child = Node | string | null;

interface Properties {
  readonly class?: string;
  readonly on?: Readonly<Partial<Record<keyof HTMLElementEventMap, (event: Event) => void>>>;
  readonly [attribute: string]: unknown;
}

/** An element with attributes, listeners and children; `null` and `false` are left out, `true` is an empty attribute. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false || key === "on") continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(properties.on ?? {}))
    if (listener !== undefined) element.addEventListener(event, listener);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const drawings = new Map<string, Element>();

/** An SVG drawing of ours as an element, hidden from screen readers: words stand beside it. Each is read once. */
export function drawing(svg: string, className: string): Element {
  const known = drawings.get(svg) ?? new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  drawings.set(svg, known);
  const copy = document.importNode(known, true);
  copy.setAttribute("class", className);
  copy.setAttribute("aria-hidden", "true");
  return copy;
}
