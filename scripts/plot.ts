/** Plots for the README as SVG: one panel for each unit, both axes logarithmic, so that linear growth is a straight line. */

export interface Panel {
  /** What the panel shows, with its unit. */
  readonly title: string;
  /** Values by name of the line, one for each `x`; what is not positive is left out. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

const WIDE = 340; // pixels, of one panel
const HIGH = 300;
const LEFT = 56;
const RIGHT = 20;
const TOP = 34;
const BOTTOM = 44;
const LEGEND = 18; // height of a line of it
// Told apart by colour-blind readers, and by their dashes in print.
const INKS = [
  { colour: "#0b5cad", dash: "" },
  { colour: "#c2410c", dash: "7 3" },
  { colour: "#3f6212", dash: "2 3" },
  { colour: "#7e22ce", dash: "9 3 2 3" },
];

/** Draws the panels side by side. `xs` are the values of the common axis, ascending. */
export function plot(title: string, axis: string, xs: readonly number[], panels: readonly Panel[]): string {
  const legends = Math.max(...panels.map(({ lines }) => Object.keys(lines).length));
  const [width, height] = [WIDE * panels.length, HIGH + legends * LEGEND];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#1f2937">
<title>${title}</title>
<rect width="${width}" height="${height}" fill="white"/>
${panels.map((panel, index) => `<g transform="translate(${index * WIDE} 0)">\n${drawPanel(panel, axis, xs)}\n</g>`).join("\n")}
</svg>
`;
}

function drawPanel({ title, lines }: Panel, axis: string, xs: readonly number[]): string {
  const values = Object.values(lines)
    .flat()
    .filter((value) => value > 0);
  const [low, high] = [10 ** Math.floor(log(Math.min(...values))), 10 ** Math.ceil(log(Math.max(...values)))];
  const x = scale(xs[0] ?? 1, xs.at(-1) ?? 10, LEFT + 8, WIDE - RIGHT - 12);
  const y = scale(low, high, HIGH - BOTTOM, TOP);
  const parts = [
    `<text x="${LEFT}" y="18" font-size="13" font-weight="bold">${title}</text>`,
    ...decades(low, high).map(
      (value) =>
        `<path d="M${LEFT} ${y(value)}H${WIDE - RIGHT}" stroke="#d1d5db"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${short(value)}</text>`,
    ),
    ...xs.map(
      (value) =>
        `<text x="${x(value)}" y="${HIGH - BOTTOM + 18}" text-anchor="middle">${short(value)}</text>`,
    ),
    `<text x="${(LEFT + WIDE - RIGHT) / 2}" y="${HIGH - 8}" text-anchor="middle" fill="#6b7280">${axis}</text>`,
    ...Object.entries(lines).map(([name, line], index) => drawLine(name, line, index, xs.map(x), y)),
  ];
  return parts.join("\n");
}

function drawLine(
  name: string,
  values: readonly number[],
  index: number,
  xs: readonly number[],
  y: (value: number) => number,
): string {
  const { colour, dash } = INKS[index % INKS.length] ?? { colour: "black", dash: "" };
  const points = values.flatMap((value, at) => (value > 0 ? [[xs[at] ?? 0, y(value)] as const] : []));
  const ink = `fill="none" stroke="${colour}" stroke-width="2"${dash && ` stroke-dasharray="${dash}"`}`;
  const legend = HIGH + index * LEGEND;
  return [
    `<polyline points="${points.map((point) => point.join(",")).join(" ")}" ${ink}/>`,
    ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`),
    `<path d="M${LEFT} ${legend}h28" ${ink}/><text x="${LEFT + 36}" y="${legend + 4}">${name}</text>`,
  ].join("\n");
}

const log = (value: number): number => Math.log10(value);

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  const range = log(to) - log(from) || 1;
  return (value) => Number((start + ((log(value) - log(from)) / range) * (end - start)).toFixed(1));
}

function decades(low: number, high: number): number[] {
  return Array.from({ length: Math.round(log(high) - log(low)) + 1 }, (_, index) => low * 10 ** index);
}

/** 1000 as 1k, 1000000 as 1M, 0.001 as it stands. */
function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e3) return `${value / 1e3}k`;
  return String(Number(value.toPrecision(3)));
}
