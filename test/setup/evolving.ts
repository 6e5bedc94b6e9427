/** Places that change from one generation to the next: new, gone, moved, renamed, of another category or region, in every script. */

import { type MadePlace, madePlaces, randomOf } from "./madeplaces.js";

/** Texts that something on the way could break: scripts, directions, marks, markup, controls, line ends, sheer length. */
const TEXTS = [
  "",
  "Ħut – “τὸ καταφύγιον” Приют 山小屋 대피소 ที่พักพิง मन्दिर",
  "מקלט בהר عربي \u202Eabc\u202C ‏RTL‏",
  "e\u0301 é \u1E9B\u0323 ﬁ Å Å \u0BA8\u0BBF",
  "👩‍👩‍👧‍👦 🏔️ 🇪🇸 𝕳𝖚𝖙 𠜎 \u{10FFFD}",
  "&amp; &eacute; <b>gras</b> ]]> <!-- -- --> <?x?> \" ' \\ \\u0041 \\n",
  "a\r\nb\rc\nd\te\u0085f\u2028g\u2029h\u00A0i\u200Bj\uFEFFk",
  "\u0000\u0007\u001B\u007F\uFFFE\uD800 lone",
  "=1+1;@SUM(A1),|cmd' ; tab\there",
  "__proto__ constructor null NaN -0 1e400 true",
  "neige, vent et bois mouillé; ".repeat(700),
] as const;

const REGIONS = ["", "Navarre", "Aragón", "aux", "日本"] as const; // each is 150 files

type Random = () => number;
type Pick = <Item>(items: readonly Item[]) => Item;

/** What may happen to a place; one that is gone gives null. */
const EVENTS: Readonly<Record<string, (place: MadePlace, pick: Pick, random: Random) => MadePlace | null>> = {
  removed: () => null,
  renamed: (place, pick) => ({
    ...place,
    name: `${pick(["Refuge", "Abri", "Óró"])} ${pick(TEXTS)} ${place.id}`,
  }),
  moved: (place, _pick, random) => ({
    ...place,
    longitude: Math.round((-2 + random() * 5.3) * 1e7) / 1e7,
    latitude: Math.round((42 + random() * 1.6) * 1e7) / 1e7,
  }),
  "moved a little": (place, _pick, random) => ({
    ...place,
    latitude: Math.round((Number(place["latitude"]) + (random() - 0.5) * 1e-6) * 1e7) / 1e7,
  }),
  "on top of another": (place) => ({ ...place, longitude: 0.5, latitude: 42.7 }),
  "another category": (place, pick) => ({ ...place, type_lieu: pick([1, 2, 3, 4, 5, 6, 7, null, "abri"]) }),
  "another region": (place, pick) => ({ ...place, region: pick(REGIONS) }),
  "another text": (place, pick) => ({ ...place, descriptif: pick(TEXTS), commentaire: pick(TEXTS) }),
  "other numbers": (place, pick) => ({
    ...place,
    altitude: pick(["2135", "1640m", "", "1760m ?", 12, 3404.5, null]),
    cap_ete: pick(["12", "4 a 5", "0", "", 7]),
    cap_hiver: pick(["6", "idem", "", null]),
  }),
  "a value of its own": (place, pick, random) => ({
    ...place,
    [pick(["eau_potable", "wc", "clé à", "été"])]: pick([true, null, 0.1 + random(), ["a", { b: 1 }], "oui"]),
  }),
};

/** The places of the next generation: `count` events, a third as many new places. The same seed gives the same. */
export function evolve(places: readonly MadePlace[], count: number, seed: number): MadePlace[] {
  const random = randomOf(seed);
  const pick: Pick = (items) => items[Math.floor(random() * items.length)] as never;
  const byId = new Map(places.map((place) => [place.id, place]));
  for (let n = 0; n < count; n++) {
    const place = pick([...byId.values()]);
    const next = pick(Object.values(EVENTS))(place, pick, random);
    if (next === null) byId.delete(place.id);
    else byId.set(place.id, next);
  }
  let free = Math.max(0, ...byId.keys());
  for (const place of madePlaces(Math.ceil(count / 3), seed)) {
    free += 1 + Math.floor(random() * 3);
    byId.set(free, { ...place, id: free, region: pick(REGIONS), descriptif: pick(TEXTS) });
  }
  return [...byId.values()];
}
