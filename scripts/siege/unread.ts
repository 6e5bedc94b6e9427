/** 200 clients that ask for 10,000 places each and read nothing, of a server with a small heap. */

import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { shown } from "../table.js";
import { type Outcome, probe, type Releases, startServer, watchMemory } from "./trial.js";

const CLIENTS = 200;
const HEAP = 128; // MiB
const MOST_GROWTH = 100; // MiB: 200 answers are 1 GB
const questions = ["geojson", "gpx", "kml", "json", "csv"].flatMap((format) => [
  `/api.php?format=${format}&limit=10000&offset=1 identity`,
  `/api.php?format=${format}&limit=10000&bbox=-2,42,4,44 gzip`,
]);

/** Once with files in memory and once from disk. */
export async function readNothing({ large }: Releases): Promise<Outcome> {
  const outcomes = [];
  for (const memory of ["256M", "0"]) outcomes.push(await hold(large, memory));
  return {
    asked: `${CLIENTS} clients, 10,000 places each, heap of ${HEAP} MiB`,
    seen: outcomes.map(({ seen }) => seen).join("; "),
    faults: outcomes.flatMap(({ faults }) => faults),
  };
}

async function hold(site: string, memory: string): Promise<Pick<Outcome, "seen" | "faults">> {
  const server = await startServer(site, {
    flags: ["--memory", memory],
    node: [`--max-old-space-size=${HEAP}`],
  });
  const { hostname, port } = new URL(server.address);
  const sockets: Socket[] = [];
  try {
    const before = server.memory();
    const highest = watchMemory(server);
    for (let number = 0; number < CLIENTS; number++) {
      const [path, coding] = (questions[number % questions.length] ?? "").split(" ");
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on("error", () => {});
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\n\r\n`);
      sockets.push(socket);
    }
    const visitor = await probe(server.address, 15);
    const peak = highest();
    for (const socket of sockets) socket.destroy();
    await wait(3000);
    return {
      seen: `--memory ${memory}: ${shown(before)} MiB before, ${shown(peak)} at most, ${shown(server.memory())} after; a visitor waits ${shown(visitor.median)} ms`,
      faults: [
        ...(peak > before + MOST_GROWTH ? ["memory grows"] : []),
        ...(visitor.failures > 0 || !server.isAlive() ? ["the visitor got no answer"] : []),
      ],
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}
