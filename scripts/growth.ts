/** How cost grows with the number of places: a table, and a plot as SVG. */

import { writeFileSync } from "node:fs";
import { boxesWith } from "./boxes.js";
import { load } from "./load.js";
import { describeMachine } from "./machine.js";
import { memoryOf } from "./processes.js";
import { buildSize } from "./sizes.js";
import { shown, table } from "./table.js";
import { startShelters } from "./workloads.js";

const PLOT = "scripts/growth.svg";
const MEMORY = "512M"; // the whole GeoJSON export of a million places fits

interface Point {
  readonly count: number;
  readonly values: Readonly<Record<string, number>>;
}

/** Builds and serves each size; prints the table and writes the plot. Without brotli and with an hour of patience for the largest. */
export async function measureGrowth(
  work: string,
  sizes: readonly number[],
  say: (text: string) => void,
): Promise<void> {
  const points: Point[] = [];
  for (const count of sizes) points.push(await measure(work, count));
  const names = Object.keys(points[0]?.values ?? {});
  const rows = names.map((name) => [name, ...points.map(({ values }) => shown(values[name] ?? Number.NaN))]);
  say(table(["", ...points.map(({ count }) => `${shown(count)} places`)], rows));
  writeFileSync(PLOT, plot(points, names));
  say(`\n${PLOT} is written.`);
}

async function measure(work: string, count: number): Promise<Point> {
  const built = await buildSize(work, count, false);
  const seconds = (name: string): number => built.stages.find(({ stage }) => stage === name)?.seconds ?? 0;
  const server = await startShelters(built.site, "--memory", MEMORY);
  try {
    const box = async (wanted: number) => {
      const paths = boxesWith(wanted, count).map((one) => `/api.php?bbox=${one}`);
      return await load({ address: server.address, paths, seconds: 2 });
    };
    const [small, large] = [await box(100), await box(1000)];
    return {
      count,
      values: {
        "pull, s": seconds("pull"),
        "build, s": built.stages.reduce((sum, one) => sum + one.seconds, 0) - seconds("pull"),
        "build, peak MiB": Math.max(...built.stages.map(({ peak }) => peak)),
        "server start, ms": server.startMs,
        "server, peak MiB": memoryOf(server.process.pid ?? 0, "VmHWM"),
        "bbox of 100, requests/s": small.perSecond,
        "bbox of 100, p99 ms": small.p99,
        "bbox of 1,000, requests/s": large.perSecond,
        "bbox of 1,000, p99 ms": large.p99,
      },
    };
  } finally {
    await server.stop();
  }
}

const WIDE = 720; // pixels
const HIGH = 420;
const EDGE = 50;
const COLOURS = [
  "#1b6ca8",
  "#c2410c",
  "#15803d",
  "#7e22ce",
  "#b91c1c",
  "#0f766e",
  "#a16207",
  "#475569",
  "#be185d",
];

/** Every row against the number of places, both axes logarithmic: a straight line of 45 degrees is linear growth. */
function plot(points: readonly Point[], names: readonly string[]): string {
  const all = points.flatMap(({ values }) => Object.values(values)).filter((value) => value > 0);
  const x = scale(
    points.map(({ count }) => count),
    EDGE,
    WIDE - 220,
  );
  const y = scale(all, HIGH - EDGE, 20);
  const lines = names.map((name, index) => {
    const colour = COLOURS[index % COLOURS.length] ?? "";
    const path = points
      .map(({ count, values }) => `${x(count)},${y(Math.max(values[name] ?? 1, 1e-3))}`)
      .join(" ");
    const label = `<text x="${WIDE - 205}" y="${40 + index * 22}" fill="${colour}">${name}</text>`;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${label}`;
  });
  const ticks = points.map(
    ({ count }) => `<text x="${x(count)}" y="${HIGH - 25}" text-anchor="middle">${shown(count)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${HIGH}" font-family="sans-serif" font-size="13">
<title>Cost by number of places, both axes logarithmic. ${describeMachine()}</title>
<rect width="${WIDE}" height="${HIGH}" fill="white"/>
${lines.join("\n")}
${ticks.join("\n")}
<text x="${EDGE}" y="${HIGH - 6}">places (both axes logarithmic)</text>
</svg>
`;
}

function scale(values: readonly number[], from: number, to: number): (value: number) => string {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const range = high - low || 1;
  return (value) => (from + ((Math.log(value) - low) / range) * (to - from)).toFixed(1);
}
