/** Programs under measurement: started, watched and always ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pinned } from "./machine.js";

export interface RunningProcess {
  readonly process: ChildProcess;
  /** The first line that it printed. */
  readonly firstLine: string;
  /** Milliseconds until that line. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Starts a program on the first core and waits for its first line. */
export async function startProgram(
  command: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<RunningProcess> {
  const [program = "", ...args] = pinned(0, command);
  const started = performance.now();
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...options.env },
  });
  const lines = createInterface({ input: child.stdout });
  const firstLine = await Promise.race([
    once(lines, "line").then(([line]) => String(line)),
    once(child, "exit").then(([code]) => {
      throw new Error(`${command.join(" ")} ended with ${code}`);
    }),
  ]);
  const startMs = performance.now() - started;
  return {
    process: child,
    firstLine,
    startMs,
    stop: () => end(child),
  };
}

const PATIENCE = 3000; // ms; MapServer heeds SIGTERM only when its next request comes

/** Asks a program to end, and ends it when it does not. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  const force = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
  child.kill("SIGTERM");
  await ended;
  clearTimeout(force);
}

/** Runs a program to its end on both cores; gives its lines. Throws when it fails. */
export async function runProgram(command: readonly string[]): Promise<string[]> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
  return lines;
}

/** A line of /proc/PID/status in MiB, such as VmRSS or VmHWM; NaN on systems without it. */
export function memoryOf(pid: number | "self", key: "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
