/** The texts of the downloads table in four languages: which file each program reads best, and how it gets in. */

import type { FileFormatName } from "./formats/index.js";
import type { Language } from "./taxonomy.js";

export interface ProgramAdvice {
  readonly name: string;
  /** A phone or a GPS receiver slows down with many waypoints; a computer does not. */
  readonly isHandheld: boolean;
  /** Files for it, in each language. */
  readonly formats: Readonly<Record<Language, FileFormatName>>;
  readonly how: Readonly<Record<Language, string>>;
}

/** More waypoints than this make phones slow, and are more than some GPS receivers hold. */
export const WAYPOINT_WARNING = 1000;

const gpx = { fr: "gpx", es: "es.gpx", ca: "ca.gpx", en: "en.gpx" } as const;
const kmz = { fr: "kmz", es: "es.kmz", ca: "ca.kmz", en: "en.kmz" } as const;

function everywhere(format: FileFormatName): Readonly<Record<Language, FileFormatName>> {
  return { fr: format, es: format, ca: format, en: format };
}

export const programs: readonly ProgramAdvice[] = [
  {
    name: "Garmin",
    isHandheld: true,
    formats: gpx,
    how: {
      fr: "Copiez le fichier GPX dans le dossier Garmin/GPX de l'appareil. Ancien appareil, ou liste trop lourde : prenez « GPX simple ».",
      es: "Copie el archivo GPX en la carpeta Garmin/GPX del aparato. Si es antiguo o la lista pesa demasiado, tome «GPX simple».",
      ca: "Copieu el fitxer GPX a la carpeta Garmin/GPX de l'aparell. Si és antic o la llista pesa massa, agafeu «GPX simple».",
      en: 'Copy the GPX file into the folder Garmin/GPX of the device. Old device, or the list is too heavy: take "simple GPX".',
    },
  },
  {
    name: "OsmAnd",
    isHandheld: true,
    formats: gpx,
    how: {
      fr: "Ouvrez le fichier GPX avec OsmAnd et importez-le comme favoris : un groupe par catégorie, avec couleur et icône.",
      es: "Abra el archivo GPX con OsmAnd e impórtelo como favoritos: un grupo por categoría, con color e icono.",
      ca: "Obriu el fitxer GPX amb OsmAnd i importeu-lo com a preferits: un grup per categoria, amb color i icona.",
      en: "Open the GPX file with OsmAnd and import it as favourites: one group per category, with colour and icon.",
    },
  },
  {
    name: "Organic Maps",
    isHandheld: true,
    formats: kmz,
    how: {
      fr: "Ouvrez le fichier KMZ avec Organic Maps : il devient une liste de favoris en couleurs.",
      es: "Abra el archivo KMZ con Organic Maps: se convierte en una lista de marcadores en color.",
      ca: "Obriu el fitxer KMZ amb Organic Maps: es converteix en una llista de marcadors de colors.",
      en: "Open the KMZ file with Organic Maps: it becomes a list of bookmarks in colours.",
    },
  },
  {
    name: "Locus Map",
    isHandheld: true,
    formats: gpx,
    how: {
      fr: "Importez le fichier GPX dans un dossier de points.",
      es: "Importe el archivo GPX en una carpeta de puntos.",
      ca: "Importeu el fitxer GPX en una carpeta de punts.",
      en: "Import the GPX file into a folder of points.",
    },
  },
  {
    name: "Google Earth",
    isHandheld: false,
    formats: kmz,
    how: {
      fr: "Ouvrez le fichier KMZ : les icônes sont dedans, il marche sans réseau.",
      es: "Abra el archivo KMZ: lleva los iconos dentro y funciona sin red.",
      ca: "Obriu el fitxer KMZ: porta les icones a dins i funciona sense xarxa.",
      en: "Open the KMZ file: its icons are inside, it works without a network.",
    },
  },
  {
    name: "QGIS",
    isHandheld: false,
    formats: everywhere("geojson"),
    how: {
      fr: "Glissez places.gpkg (tout, avec index spatial) ou un fichier GeoJSON dans la carte.",
      es: "Arrastre places.gpkg (todo, con índice espacial) o un archivo GeoJSON al mapa.",
      ca: "Arrossegueu places.gpkg (tot, amb índex espacial) o un fitxer GeoJSON al mapa.",
      en: "Drag places.gpkg (everything, with a spatial index) or a GeoJSON file into the map.",
    },
  },
  {
    name: "Excel, LibreOffice",
    isHandheld: false,
    formats: everywhere("excel.csv"),
    how: {
      fr: "Ouvrez « CSV Excel » d'un double-clic (réglages français, espagnols ou catalans) ; avec des réglages anglais, prenez le CSV.",
      es: "Abra «CSV Excel» con un doble clic (ajustes franceses, españoles o catalanes); con ajustes ingleses, tome el CSV.",
      ca: "Obriu «CSV Excel» amb un doble clic (ajustos francesos, espanyols o catalans); amb ajustos anglesos, agafeu el CSV.",
      en: 'Open "Excel CSV" by a double click (French, Spanish or Catalan settings); with English settings take the CSV.',
    },
  },
];

/** Each language by its own name. */
export const languageNames = { en: "English", fr: "Français", es: "Español", ca: "Català" } as const;

interface Words {
  readonly title: string;
  readonly which: string;
  readonly simple: string;
  readonly excel: string;
  readonly region: string;
  readonly category: string;
  readonly places: string;
  readonly all: string;
  readonly terms: string;
  readonly caution: string;
  readonly warning: string;
  data(date: string): string;
}

/** Texts of the downloads page. */
export const downloadWords: Readonly<Record<Language, Words>> = {
  en: {
    title: "Downloads",
    which: "Which file for which program?",
    simple: "simple GPX",
    excel: "Excel CSV",
    region: "Region",
    category: "Category",
    places: "Places",
    all: "All",
    terms: "Terms",
    caution: "Not for navigation: check every position and opening date before you trust your night to it.",
    warning: `More than ${WAYPOINT_WARNING} places make phones slow and fill GPS receivers: take your region and category.`,
    data: (date) => `Data of ${date}.`,
  },
  fr: {
    title: "Téléchargements",
    which: "Quel fichier pour quel programme ?",
    simple: "GPX simple",
    excel: "CSV Excel",
    region: "Région",
    category: "Catégorie",
    places: "Lieux",
    all: "Tout",
    terms: "Conditions",
    caution: "Pas pour la navigation : vérifiez position et ouverture avant d'y compter pour la nuit.",
    warning: `Plus de ${WAYPOINT_WARNING} lieux ralentissent les téléphones et remplissent les GPS : prenez votre région et votre catégorie.`,
    data: (date) => `Données du ${date}.`,
  },
  es: {
    title: "Descargas",
    which: "¿Qué archivo para qué programa?",
    simple: "GPX simple",
    excel: "CSV Excel",
    region: "Región",
    category: "Categoría",
    places: "Lugares",
    all: "Todo",
    terms: "Condiciones",
    caution:
      "No sirve para navegar: compruebe posición y apertura antes de contar con un refugio para la noche.",
    warning: `Más de ${WAYPOINT_WARNING} lugares hacen lentos los teléfonos y llenan los GPS: tome su región y su categoría.`,
    data: (date) => `Datos del ${date}.`,
  },
  ca: {
    title: "Baixades",
    which: "Quin fitxer per a quin programa?",
    simple: "GPX simple",
    excel: "CSV Excel",
    region: "Regió",
    category: "Categoria",
    places: "Llocs",
    all: "Tot",
    terms: "Condicions",
    caution:
      "No serveix per navegar: comproveu posició i obertura abans de comptar amb un refugi per a la nit.",
    warning: `Més de ${WAYPOINT_WARNING} llocs alenteixen els telèfons i omplen els GPS: agafeu la vostra regió i categoria.`,
    data: (date) => `Dades del ${date}.`,
  },
};
