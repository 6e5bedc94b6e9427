/** slowhttptest: sockets that send or read so slowly that they would hold a server for ever. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isInstalled, pinned } from "../machine.js";
import { shown } from "../table.js";
import { type Outcome, probe, type Releases, startServer } from "./trial.js";

const SOCKETS = 500;

const modes = {
  // A header line every 5 s; they have 10 s for all.
  headers: { flags: ["-H", "-i", "5"], seconds: 30, path: "/" },
  // A piece of a body every 5 s; it has 15 s.
  body: { flags: ["-B", "-i", "5", "-s", "8192", "-t", "POST"], seconds: 35, path: "/api.php" },
  // 32 bytes every 5 s of an answer of megabytes, through the smallest window: less than the system passes on in a minute.
  read: {
    flags: ["-X", "-w", "16", "-y", "64", "-n", "5", "-z", "32", "-k", "1"],
    seconds: 240,
    path: "/exports/all/all.kml",
  },
} as const;

export async function slowSockets({ one }: Releases, mode: keyof typeof modes): Promise<Outcome> {
  const { flags, seconds, path } = modes[mode];
  const asked = `${SOCKETS} sockets, ${seconds} s`;
  if (!isInstalled("slowhttptest"))
    return { asked, seen: "slowhttptest is not installed", faults: ["not tried"] };
  const server = await startServer(one);
  try {
    const [before, idle] = [server.memory(), server.files()];
    let [open, most] = [0, 0]; // what the server holds; the tool does not see a connection end that it never reads from
    const timer = setInterval(() => {
      open = server.files() - idle;
      most = Math.max(most, open);
    }, 500);
    const command = [
      ...["slowhttptest", ...flags, "-c", String(SOCKETS), "-r", "200"],
      ...["-l", String(seconds), "-x", "24", "-p", "3", "-u", server.address + path],
    ];
    const [program = "", ...args] = pinned(1, command);
    const started = performance.now();
    const slow = promisify(execFile)(program, args, { maxBuffer: 2 ** 26 });
    const visitor = await probe(
      server.address,
      slow.finally(() => clearInterval(timer)),
    );
    await slow;
    // It ends before its time when it has no socket left.
    const lasted = (performance.now() - started) / 1000;
    const isHeld = open > 10 && lasted > seconds - 1;
    return {
      asked,
      seen:
        `at most ${most} open, ${lasted > seconds - 1 ? open : "none"} after ${shown(lasted)} s; a visitor waits ${shown(visitor.median)} ms (at most ${shown(visitor.worst)}); ` +
        `${shown(before)} MiB before, ${shown(server.memory())} after`,
      faults: [
        // A request with a body is answered before the body is there: then nothing holds the socket.
        ...(mode !== "body" && most < SOCKETS * 0.5 ? ["there was no siege"] : []),
        ...(isHeld ? ["sockets are not closed"] : []),
        ...(visitor.failures > 0 ? ["the visitor got no answer"] : []),
      ],
    };
  } finally {
    await server.stop();
  }
}
