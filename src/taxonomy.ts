/** The seven categories (`type_lieu`): their slugs, labels and symbols in every format. Everything else derives from this table. */

export const categories = {
  1: {
    slug: "cabane fermee",
    labels: { fr: "Cabane fermée", es: "Cabaña cerrada", ca: "Cabana tancada", en: "Closed hut" },
    garminSymbol: "Building",
    osmandIcon: "building",
    osmandBackground: "square",
    colour: "#616161",
    kmlStyle: "placemark-gray",
    organicMapsIcon: "Building",
  },
  2: {
    slug: "cabane ouverte",
    labels: { fr: "Cabane ouverte", es: "Cabaña abierta", ca: "Cabana oberta", en: "Open hut" },
    garminSymbol: "Residence",
    osmandIcon: "special_house",
    osmandBackground: "circle",
    colour: "#2E7D32",
    kmlStyle: "placemark-green",
    organicMapsIcon: "Building",
  },
  3: {
    slug: "cabane ouverte mais ocupee par le berger l ete",
    labels: {
      fr: "Cabane ouverte, berger l'été",
      es: "Cabaña abierta, pastor en verano",
      ca: "Cabana oberta, pastor a l'estiu",
      en: "Open hut, shepherd in summer",
    },
    garminSymbol: "Residence",
    osmandIcon: "isolated_dwelling",
    osmandBackground: "circle",
    colour: "#F9A825",
    kmlStyle: "placemark-yellow",
    organicMapsIcon: "Building",
  },
  4: {
    slug: "orri toue abri en pierre",
    labels: {
      fr: "Orri, toue, abri en pierre",
      es: "Abrigo de piedra",
      ca: "Orri, abric de pedra",
      en: "Stone shelter",
    },
    garminSymbol: "Campground",
    osmandIcon: "tourism_camp_site",
    osmandBackground: "circle",
    colour: "#6D4C41",
    kmlStyle: "placemark-brown",
    organicMapsIcon: "Mountain",
  },
  5: {
    slug: "refuge garde l ete partie hivernal",
    labels: {
      fr: "Refuge gardé l'été",
      es: "Refugio guardado en verano",
      ca: "Refugi guardat a l'estiu",
      en: "Refuge staffed in summer",
    },
    garminSymbol: "Lodging",
    osmandIcon: "tourism_hostel",
    osmandBackground: "octagon",
    colour: "#F57C00",
    kmlStyle: "placemark-orange",
    organicMapsIcon: "Hotel",
  },
  6: {
    slug: "refuge garde toute l annee",
    labels: {
      fr: "Refuge gardé toute l'année",
      es: "Refugio guardado todo el año",
      ca: "Refugi guardat tot l'any",
      en: "Refuge staffed all year",
    },
    garminSymbol: "Lodging",
    osmandIcon: "tourism_hotel",
    osmandBackground: "octagon",
    colour: "#B71C1C",
    kmlStyle: "placemark-red",
    organicMapsIcon: "Hotel",
  },
  7: {
    slug: "ruine",
    labels: { fr: "Ruine", es: "Ruina", ca: "Ruïna", en: "Ruin" },
    garminSymbol: "Ghost Town",
    osmandIcon: "historic_archaeological_site",
    osmandBackground: "square",
    colour: "#455A64",
    kmlStyle: "placemark-bluegray",
    organicMapsIcon: "Sights",
  },
} as const;

export type Category = keyof typeof categories;
export type Language = keyof (typeof categories)[1]["labels"];

/** Every category, 1 to 7. */
export const categoryNumbers = [1, 2, 3, 4, 5, 6, 7] as const satisfies readonly Category[];

/** How a place of no known category looks: it is still drawn, in a colour of its own. */
export const unknownCategory = {
  labels: {
    fr: "Catégorie inconnue",
    es: "Categoría desconocida",
    ca: "Categoria desconeguda",
    en: "Unknown category",
  },
  garminSymbol: "Building",
  osmandIcon: "special_star",
  osmandBackground: "circle",
  colour: "#7B1FA2",
  kmlStyle: "placemark-purple",
  organicMapsIcon: "None",
} as const;

/** Label, colour and symbols of a category, or of the unknown one. */
export function appearanceOf(category: Category | null) {
  return category === null ? unknownCategory : categories[category];
}

/** The category of a number or of its digit as text, else null. */
export function categoryOfNumber(value: unknown): Category | null {
  return categoryNumbers.find((category) => value === category || value === String(category)) ?? null;
}

/** The category whose slug (`type_hebergement`) this is, letter for letter after trimming, else null. */
export function categoryOfSlug(slug: string): Category | null {
  const wanted = slug.trim().toLowerCase();
  return categoryNumbers.find((category) => categories[category].slug === wanted) ?? null;
}

/** What is worth most to somebody who looks for a bed comes first; the unknown category last. */
export const byImportance: readonly (Category | null)[] = [6, 5, 2, 3, 4, 1, 7, null];
