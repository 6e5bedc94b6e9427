/** What the trials share: releases to serve, a server in a process of its own, and what is seen of it from outside. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { memoryOf, startProgram } from "../processes.js";

/** Folders of made-up places. */
export interface Releases {
  /** 5,000 places. */
  readonly one: string;
  /** 500 places each; one of them takes the place of the other in `swapped`. */
  readonly first: string;
  readonly second: string;
  readonly swapped: string;
  /** 20,000 places. */
  readonly large: string;
}

export interface Outcome {
  readonly asked: string;
  readonly seen: string;
  /** What should not have been; empty = it held. */
  readonly faults: readonly string[];
}

const CLI = join(import.meta.dirname, "../../../app/cli.js");

export interface Besieged {
  readonly address: string;
  /** Resident memory of all its processes, MiB. */
  memory(): number;
  /** Open files of its first process. */
  files(): number;
  isAlive(): boolean;
  stop(): Promise<void>;
}

/** Starts the program on a release, on the first core. */
export async function startServer(
  site: string,
  { flags = [], node = [] }: { readonly flags?: readonly string[]; readonly node?: readonly string[] } = {},
): Promise<Besieged> {
  const running = await startProgram([
    process.execPath,
    ...node,
    ...[CLI, "--json", "serve", "--site", site, "--port", "0"],
    ...flags,
  ]);
  const { address } = JSON.parse(running.firstLine) as { address: string };
  const pid = running.process.pid ?? 0;
  return {
    address,
    memory: () => [pid, ...childrenOf(pid)].reduce((sum, one) => sum + (memoryOf(one, "VmRSS") || 0), 0),
    files: () => readdirSync(`/proc/${pid}/fd`).length,
    isAlive: () => running.process.exitCode === null && running.process.signalCode === null,
    stop: running.stop,
  };
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return []; // it has ended
  }
}

/** Watches memory until stopped; gives the highest, MiB. */
export function watchMemory(server: Besieged): () => number {
  let highest = server.memory();
  const timer = setInterval(() => {
    highest = Math.max(highest, server.memory());
  }, 250);
  return () => {
    clearInterval(timer);
    return Math.max(highest, server.memory());
  };
}

export interface Probed {
  /** Milliseconds. */
  readonly median: number;
  readonly worst: number;
  readonly failures: number;
}

const PROBE = "/api.php?format=json&limit=1";

/** Asks for one place, one request at a time, until the promise is settled or the seconds are over. */
export async function probe(address: string, until: Promise<unknown> | number): Promise<Probed> {
  let isOver = false;
  const over = typeof until === "number" ? wait(until * 1000) : until;
  void over.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  const times: number[] = [];
  let failures = 0;
  while (!isOver) {
    const started = performance.now();
    try {
      const reply = await fetch(address + PROBE, { signal: AbortSignal.timeout(10_000) });
      await reply.arrayBuffer();
      if (reply.status !== 200) failures++;
    } catch {
      failures++;
    }
    times.push(performance.now() - started);
    await wait(50);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1] ?? Number.NaN, worst: times.at(-1) ?? Number.NaN, failures };
}
