/** Releases exchanged under load: every answer must be, byte for byte and with its ETag, that of one of the two. */

import { createHash } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { readManifest } from "../../src/release/manifest.js";
import { shown } from "../table.js";
import { exchange } from "./releases.js";
import { type Outcome, type Releases, startServer } from "./trial.js";

const SWAPS = 50;
const CLIENTS = 16;

const BOX = "bbox=-0.5,42.5,1,43";
const questions = [
  "/exports/all/all.geojson identity",
  "/exports/all/all.geojson gzip",
  "/exports/all/all.csv gzip",
  "/exports/aragon/2.kml identity",
  "/exports/occitanie/all.ndjson identity",
  "/tiles/6/32/23.pbf identity",
  "/places.pmtiles identity",
  "/index.json gzip",
  "/manifest.json identity",
  "/terms.txt identity",
  "/api.php?format=json&region=Aragon identity",
  `/api.php?format=csv&${BOX} identity`,
  `/api.php?format=geojson&${BOX} gzip`,
  `/api.php?format=gpx&type_lieu=2&limit=10&offset=5&${BOX} gzip`,
];

/** Status, ETag and digest of an answer: what two releases differ in. */
type Fingerprint = string;

export async function swapReleases({ first, second, swapped }: Releases, workers: number): Promise<Outcome> {
  const allowed = new Map(questions.map((question) => [question, new Set<Fingerprint>()]));
  for (const site of [first, second]) {
    const server = await startServer(site);
    for (const question of questions) allowed.get(question)?.add(await ask(server.address, question));
    await server.stop();
  }
  const server = await startServer(swapped, { flags: ["--workers", String(workers)] });
  const faults = new Map<string, number>();
  let answers = 0;
  let isOver = false;
  const client = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = number; !isOver; turn++) {
      const question = questions[turn % questions.length] ?? "";
      const seen = await ask(server.address, question, agent).catch((error: unknown) => String(error));
      answers++;
      await wait(1); // the clients share a core with those who exchange the release
      if (allowed.get(question)?.has(seen) === true) continue;
      const fault = `${question}: ${seen}`;
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
    }
    agent.destroy();
  };
  try {
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    let seenByAll = 0;
    for (let swap = 0; swap < SWAPS; swap++) {
      const source = swap % 2 === 0 ? second : first;
      await exchange(swapped, source);
      if (await isServed(server.address, source)) seenByAll++;
    }
    isOver = true;
    await clients;
    if (seenByAll < SWAPS) faults.set(`${SWAPS - seenByAll} releases were not picked up`, 1);
    return {
      asked: `${SWAPS} swaps, ${CLIENTS} clients, ${questions.length} questions, ${workers} ${workers === 1 ? "process" : "processes"}`,
      seen: `${shown(answers)} answers, ${faults.size === 0 ? "all" : "not all"} whole and of one release; ${shown(server.memory())} MiB at the end`,
      faults: [...faults].slice(0, 3).map(([fault, times]) => `${fault} (${times})`),
    };
  } finally {
    isOver = true;
    await server.stop();
  }
}

/** Waits until every process serves it. */
async function isServed(address: string, source: string): Promise<boolean> {
  const wanted = generationOf(source);
  for (let tries = 0; tries < 50; tries++) {
    const seen = await Promise.all(Array.from({ length: 6 }, () => healthOf(address)));
    if (seen.every((one) => one === wanted)) return true;
    await wait(200);
  }
  return false;
}

function generationOf(site: string): string {
  return readManifest(site).manifest.generation;
}

async function healthOf(address: string): Promise<string> {
  const reply = await fetch(`${address}/healthz`, { headers: { Connection: "close" } });
  return ((await reply.json()) as { generation: string }).generation;
}

/** One answer as it came over the wire; throws when it is not whole. */
function ask(address: string, question: string, agent?: Agent): Promise<Fingerprint> {
  const [path = "", coding = ""] = question.split(" ");
  return new Promise((resolve, reject) => {
    const headers = { "Accept-Encoding": coding };
    const sent = request(address + path, { headers, agent: agent ?? false }, (response) => {
      const hash = createHash("sha256");
      let length = 0;
      response.on("data", (bytes: Buffer) => {
        hash.update(bytes);
        length += bytes.length;
      });
      response.on("error", reject);
      response.on("end", () => {
        const announced = response.headers["content-length"];
        if (!response.complete || (announced !== undefined && Number(announced) !== length))
          reject(new Error(`${length} bytes of ${announced}`));
        else resolve([response.statusCode, response.headers.etag ?? "-", hash.digest("hex")].join(" "));
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}
