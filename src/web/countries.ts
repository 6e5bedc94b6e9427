/** Country names of the background in the visitor's language, as the browser knows them. */

import type { FeatureCollection } from "geojson";

/** English name -> name in `language`; empty where the browser does not know. */
export async function countryNames(base: string, language: string): Promise<Record<string, string>> {
  const answer = await fetch(`${base}background.json`);
  if (!answer.ok) return {};
  const { features } = (await answer.json()) as FeatureCollection;
  const codes = codesByName();
  const translated = new Intl.DisplayNames(language, { type: "region" });
  const names = features
    .filter(({ properties }) => properties?.["kind"] === "country")
    .map(({ properties }) => String(properties?.["name"] ?? ""));
  return Object.fromEntries(
    names.flatMap((name) => {
      const code = codes.get(name);
      return code === undefined ? [] : [[name, translated.of(code) ?? name]];
    }),
  );
}

/** The browser's own table, turned round: two letters for an English name. */
function codesByName(): ReadonlyMap<string, string> {
  const english = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return new Map(
    codes.flatMap((code) => (english.of(code) === undefined ? [] : [[english.of(code) ?? "", code]])),
  );
}
