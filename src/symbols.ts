/**
 * The symbols of the project: one small drawing per category, told apart by outline (octagon = staffed, circle = open,
 * square = closed or ruined), by colour and by the glyph inside, so that no eye depends on the colour alone. Map, page and
 * KMZ draw the same strokes: this file says where they are, and writes them as SVG.
 */

import { appearanceOf, type Category } from "./taxonomy.js";

/** Side of the square in which the strokes lie. */
export const SYMBOL_SIDE = 24;

/** One stroke of a round pen: a line, an area (closed and filled), or a dot (a single point). */
export interface Stroke {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isArea: boolean;
  /** Width of the pen; a dot's diameter. */
  readonly width: number;
  /** #RRGGBB. */
  readonly colour: string;
}

/** The strokes of a category's symbol, from back to front; `null` is the place of no known category. */
export function symbolStrokes(category: Category | null): readonly Stroke[] {
  const { colour, osmandBackground } = appearanceOf(category);
  const ink = isBright(colour) ? DARK : LIGHT;
  return [...badges[osmandBackground](colour), ...glyphs[category ?? "unknown"](ink, colour)];
}

/** A category's symbol as a standalone SVG document, 24 x 24 units, without ids; `size` in CSS pixels. */
export function symbolSvg(category: Category | null, size: number = SYMBOL_SIDE): string {
  const shapes = symbolStrokes(category).map(strokeSvg).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${SYMBOL_SIDE} ${SYMBOL_SIDE}">${shapes}</svg>`;
}

function strokeSvg({ points, isArea, width, colour }: Stroke): string {
  const [first] = points;
  if (points.length === 1 && first !== undefined)
    return `<circle cx="${first[0]}" cy="${first[1]}" r="${width / 2}" fill="${colour}"/>`;
  const path = `M${points.map(([x, y]) => `${x} ${y}`).join("L")}${isArea ? "Z" : ""}`;
  const pen = `stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"`;
  return `<path d="${path}" fill="${isArea ? colour : "none"}" ${pen}/>`;
}

const LIGHT = "#FFFFFF";
const DARK = "#212121";

/** Whether white strokes would be lost on a colour: a contrast below 3:1 (WCAG 2.2, 1.4.11). */
function isBright(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) < 3;
}

/** Points from "x,y x,y ...". */
function readPoints(text: string): [x: number, y: number][] {
  return text.split(" ").map((pair) => {
    const [x = 0, y = 0] = pair.split(",").map(Number);
    return [x, y];
  });
}

function area(colour: string, points: string, width = 0.6): Stroke {
  return { points: readPoints(points), isArea: true, width, colour };
}

function line(colour: string, points: string, width: number): Stroke {
  return { points: readPoints(points), isArea: false, width, colour };
}

/** The coloured ground, with a white rim that sets it off from any map. */
const badges: Readonly<Record<"circle" | "square" | "octagon", (colour: string) => readonly Stroke[]>> = {
  circle: (colour) => [line(LIGHT, "12,12", 24), line(colour, "12,12", 21.4)],
  square: (colour) => rimmed(colour, "3.3,3.3 20.7,3.3 20.7,20.7 3.3,20.7"),
  octagon: (colour) =>
    rimmed(colour, "7.9,2.3 16.1,2.3 21.7,7.9 21.7,16.1 16.1,21.7 7.9,21.7 2.3,16.1 2.3,7.9"),
};

function rimmed(colour: string, corners: string): Stroke[] {
  return [area(LIGHT, corners, 4.6), area(colour, corners, 2)];
}

type Glyph = (ink: string, ground: string) => readonly Stroke[];

const glyphs: Readonly<Record<Category | "unknown", Glyph>> = {
  // A keyhole in the hut: closed, but for who has the key.
  1: (ink, ground) => [...hut(ink), line(ground, "12,12.8", 3.8), area(ground, "12,13 13,16.4 11,16.4")],
  // A door that stands open.
  2: (ink, ground) => [...hut(ink), area(ground, "10.2,13 13.8,13 13.8,19.2 10.2,19.2")],
  // The hut, and the shepherd's crook beside it.
  3: (ink, ground) => [
    area(ink, "8.9,6.8 13.7,11.4 4.1,11.4", 1),
    area(ink, "5.3,11.2 12.5,11.2 12.5,17.7 5.3,17.7"),
    area(ground, "7.8,13.6 10,13.6 10,18.4 7.8,18.4"),
    line(ink, "16.6,18 16.6,8.2 16.7,7.2 17.1,6.4 17.8,6 18.5,6.1 19,6.6 19.2,7.4 19.1,8.4", 1.6),
  ],
  // A dome of dry stone in three courses, with a low door.
  4: (ink, ground) => [
    area(
      ink,
      "4.8,18 5.1,14.5 5.9,12 7.1,9.8 8.6,8.1 10.2,7.1 12,6.7 13.8,7.1 15.4,8.1 16.9,9.8 18.1,12 18.9,14.5 19.2,18",
    ),
    line(ground, "6.9,10.4 17.1,10.4", 0.9),
    line(ground, "5,14.3 19,14.3", 0.9),
    line(ground, "12,7 12,10.4", 0.9),
    line(ground, "8.3,10.4 8.3,14.3", 0.9),
    line(ground, "15.7,10.4 15.7,14.3", 0.9),
    area(ground, "10.5,19 10.5,14.4 12,13.4 13.5,14.4 13.5,19"),
  ],
  // The house in the sun of summer.
  5: (ink, ground) => [
    ...house(ink, ground),
    line(ink, "12,6.9", 3.4),
    line(ink, "12,3.6 12,3.7", 1),
    line(ink, "8.5,6.9 8.9,6.9", 1),
    line(ink, "15.1,6.9 15.5,6.9", 1),
    line(ink, "9.5,4.5 9.8,4.8", 1),
    line(ink, "14.2,4.8 14.5,4.5", 1),
  ],
  // The house with its flag out, all year.
  6: (ink, ground) => [
    ...house(ink, ground),
    line(ink, "12,9.8 12,3.8", 1.2),
    area(ink, "12.3,3.7 16.8,5.3 12.3,6.9", 0.8),
  ],
  // A gable that still stands, broken walls, fallen stones.
  7: (ink, ground) => [
    area(
      ink,
      "6.2,18.2 6.2,11.4 4.9,10.9 11.4,4.9 12.2,7.6 10.7,9.8 13.1,10.9 12.4,13.2 14.7,14.2 14.5,16.6 16.4,17.1 16.4,18.2",
    ),
    area(ground, "8.5,12 9.9,12 9.9,14.2 8.5,14.2"),
    line(ink, "18.6,17.6", 1.9),
    line(ink, "16.9,14.7", 1.5),
  ],
  unknown: (ink) => [
    line(
      ink,
      "8.4,9.2 8.5,8.1 9,7.1 9.8,6.3 10.9,5.8 12,5.7 13.1,5.8 14.2,6.3 15,7.1 15.5,8.1 15.6,9.2 15.3,10.3 14.6,11.2 13.5,12 12.6,12.9 12.1,13.8 12,14.6",
      2.1,
    ),
    line(ink, "12,18.1", 2.6),
  ],
};

/** A hut with a gable roof that overhangs its walls. */
function hut(ink: string): Stroke[] {
  return [area(ink, "12,5 18.9,11.4 5.1,11.4", 1.2), area(ink, "6.8,11 17.2,11 17.2,18.2 6.8,18.2")];
}

/** A house with windows, lower and wider than a hut: room above it for what tells two houses apart. */
function house(ink: string, ground: string): Stroke[] {
  return [
    area(ink, "5.2,13 8.5,9.8 15.5,9.8 18.8,13", 1),
    area(ink, "6.3,12.8 17.7,12.8 17.7,18.4 6.3,18.4"),
    area(ground, "11,15 13,15 13,19.2 11,19.2"),
    area(ground, "7.8,14.2 9,14.2 9,15.9 7.8,15.9"),
    area(ground, "15,14.2 16.2,14.2 16.2,15.9 15,15.9"),
  ];
}
