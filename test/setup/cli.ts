/** The compiled program as a process, as users run it. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const CLI = join(import.meta.dirname, "../../dist/app/cli.js");

export interface Run {
  /** Exit code; null after a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** A program and its arguments that starts ours: `prlimit`, `sh -c`. */
  readonly through?: readonly string[];
}

/** Starts the program; `ended` gives what it said and how it ended. */
export function startCli(
  args: readonly string[],
  { env = {}, input, through = [] }: RunOptions = {},
): { readonly process: ChildProcess; readonly ended: Promise<Run>; readonly stderr: () => string } {
  const [command = process.execPath, ...rest] = [...through, process.execPath, CLI, ...args];
  const child = spawn(command, rest, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {}); // it may end before it has read everything
  child.stdin.end(input ?? "");
  const ended = new Promise<Run>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { process: child, ended, stderr: () => stderr };
}

/** Runs the program to its end. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  return startCli(args, options).ended;
}

/** Starts a serving command with `--json` on a free port and gives its address once it answers. */
export async function startServing(
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ readonly address: string; readonly process: ChildProcess; readonly ended: Promise<Run> }> {
  const run = startCli(["--json", ...args, "--port", "0"], options);
  const address = await new Promise<string>((resolve, reject) => {
    let text = "";
    run.process.stdout?.on("data", (more: string) => {
      text += more;
      const [line, rest] = text.split("\n", 2);
      if (rest !== undefined) resolve((JSON.parse(line ?? "") as { address: string }).address);
    });
    void run.ended.then(({ code, stderr }) => reject(new Error(`it ended with ${code}: ${stderr}`)), reject);
  });
  return { address, process: run.process, ended: run.ended };
}
