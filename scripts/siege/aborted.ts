/** Downloads that are broken off after their first bytes, and what is left of them in the server. */

import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { shown } from "../table.js";
import { type Outcome, type Releases, startServer } from "./trial.js";

const DOWNLOADS = 10_000;
const AT_ONCE = 50;
const paths = [
  "/exports/all/all.kml",
  "/exports/all/all.geojson",
  "/places.pmtiles",
  "/exports/all/all.en.gpx",
  "/api.php?format=kml&bbox=-1,42,3,44",
  "/api.php?format=gpx&limit=4000&offset=7",
];

/** Once with files in memory and once from disk. */
export async function abortDownloads({ large }: Releases): Promise<Outcome> {
  const inMemory = await abortAll(large, "256M", DOWNLOADS / 2);
  const fromDisk = await abortAll(large, "0", DOWNLOADS / 2);
  return {
    asked: `${shown(DOWNLOADS)} downloads of megabytes, half from memory, half from disk`,
    seen: `memory: ${inMemory.seen}; disk: ${fromDisk.seen}`,
    faults: [...inMemory.faults, ...fromDisk.faults],
  };
}

async function abortAll(
  site: string,
  memory: string,
  count: number,
): Promise<Pick<Outcome, "seen" | "faults">> {
  const server = await startServer(site, { flags: ["--memory", memory] });
  try {
    // What is kept after the first requests is no leak.
    for (let turn = 0; turn < 200; turn++) await abort(server.address, turn);
    await wait(1000);
    const [files, before] = [server.files(), server.memory()];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await abort(server.address, next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await wait(5000);
    const [filesAfter, after] = [server.files(), server.memory()];
    const isRight = (await fetch(`${server.address}/healthz`)).status === 200;
    return {
      seen: `${files} open files before, ${filesAfter} after, ${shown(before)} MiB before, ${shown(after)} after`,
      faults: [
        ...(filesAfter > files ? ["files stay open"] : []),
        ...(after > before + 60 ? ["memory is not given back"] : []),
        ...(isRight ? [] : ["no answer afterwards"]),
      ],
    };
  } finally {
    await server.stop();
  }
}

/** Asks, and hangs up at the first bytes: every other time in the middle of the headers. */
function abort(address: string, turn: number): Promise<void> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("connect", () => {
      socket.write(`GET ${paths[turn % paths.length]} HTTP/1.1\r\nHost: a\r\n\r\n`);
      if (turn % 7 === 0) setTimeout(() => socket.destroy(), turn % 3);
    });
    socket.on("data", () => {
      if (turn % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}
