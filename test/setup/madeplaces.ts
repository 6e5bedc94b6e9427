/** Made-up places for tests: the same count and seed give the same places, spread over categories, regions and awkward texts. */

export interface MadePlace {
  readonly id: number;
  readonly name: string;
  readonly [key: string]: unknown;
}

/** Names that slugs, paths and headers could trip over; two pairs give the same slug. */
export const oddRegions = [
  "Aragón",
  "Aragon",
  "Euskal Herria / Pays Basque",
  "Ελλάδα",
  "日本",
  "../../etc",
  "all",
  "con",
] as const;

const texts = [
  "",
  "toit refait; poêle à bois",
  'dit "la grande", <b>froide</b> & humide ]]>',
  "=HYPERLINK(1)",
  "ligne 1\nligne 2\r\nligne 3",
  "vue 🏔️ superbe",
  "point d'eau à 100 m, à sec en août",
];

/** `count` places in and around the Pyrenees. */
export function madePlaces(count: number, seed = 1): MadePlace[] {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const place = {
      id,
      name: `${pick(["Refuge", "Cabane", "Orri", "Refugio", "Cabana"])} ${pick(["d'en Haut", "del Pic", "ñandú", "Ⅻ", "<X> & Y"])} ${id}`,
      url: `https://example.org/affiche.php?numenr=${id}`,
      descriptif: pick(texts),
      commentaire: pick(texts),
      altitude: pick(["2135", "1640m", "", "1760m ?"]),
      cap_ete: pick(["12", "4 a 5", "0", ""]),
      cap_hiver: pick(["6", "idem", ""]),
      type_lieu: pick([1, 2, 3, 4, 5, 6, 7, null]),
      region: pick(oddRegions),
      commune: pick(["Gavarnie", "Sallent de Gállego", ""]),
      longitude: Math.round((-2 + random() * 5.3) * 1e6) / 1e6,
      latitude: Math.round((42 + random() * 1.6) * 1e6) / 1e6,
      eau_potable: pick(["oui", "non", null]),
    };
    return place;
  });
}

/** The same places in another order, by the seed. */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = randomOf(seed);
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** Numbers from 0 to 1, the same for the same seed (a linear congruential generator, Numerical Recipes). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A few places with so much text that the whole export (about 8 MB) does not fit into the buffers of a connection. */
export function heavyPlaces(): MadePlace[] {
  const text = "une longue histoire de neige, de vent et de bois mouillé; ".repeat(1700).slice(0, 99_000);
  // Without region and category only the whole exports hold them.
  return madePlaces(42).map((place) => ({
    ...place,
    type_lieu: null,
    region: "",
    descriptif: text,
    commentaire: `${place.id} ${text}`,
  }));
}
