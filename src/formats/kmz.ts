/**
 * KMZ: the KML document with our own icons beside it in one zip file, so that Google Earth draws every category offline.
 * The icons are PNG: of what we can draw, it is the one form that every reader of KMZ shows.
 */

import { symbolPng } from "../png.js";
import { appearanceOf, type Category, type Language } from "../taxonomy.js";
import { openZip } from "../zip.js";
import type { Format } from "./format.js";
import { kmlIn } from "./kml.js";
import { shownCategories } from "./words.js";

/** KMZ whose labels and facts are named in a language. */
export function kmzIn(language: Language): Format {
  return {
    ...kmlIn(language, ownIcon),
    mediaType: "application/vnd.google-earth.kmz",
    pack: (about) =>
      // Readers open the first KML document that they find: it stands first.
      openZip(
        "doc.kml",
        shownCategories(about).map((category) => ({ name: iconPath(category), bytes: symbolPng(category) })),
      ),
  };
}

function ownIcon(category: Category | null): string {
  return `<scale>1</scale><Icon><href>${iconPath(category)}</href></Icon>`;
}

function iconPath(category: Category | null): string {
  return `icons/${appearanceOf(category).kmlStyle}.png`;
}
