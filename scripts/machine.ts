/** Which machine a number was measured on, and which tools it has. */

import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, platform, release, totalmem } from "node:os";

/** One line for the head of a table. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${availableParallelism()} cores of ${model}, ${memory}, ${platform()} ${release().split("-")[0]}, Node ${process.versions.node}`;
}

/** Whether a program can be started. */
export function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

const canPin = availableParallelism() >= 2 && isInstalled("taskset");

/** The command on one core: the server on one, the load on another, so that neither takes the other's time. */
export function pinned(core: number, command: readonly string[]): string[] {
  return canPin ? ["taskset", "-c", String(core), ...command] : [...command];
}

/** What the pinning was, for the head of a table. */
export const pinning = canPin ? "server on one core, load on another" : "no pinning: server and load share";
