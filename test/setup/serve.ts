/** Real servers in this process, on any free port of the loopback address, closed at the end of the test file. */

import { type RunningServer, type ServerOptions, startServer } from "../../src/serve/server.js";
import { atEnd } from "./cleanup.js";

export interface TestServer extends RunningServer {
  /** What the server wrote to its log. */
  readonly lines: readonly string[];
}

/** Serves a release folder. */
export async function serve(site: string, options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const lines: string[] = [];
  const server = await startServer({
    site,
    host: "127.0.0.1",
    port: 0,
    log: (line) => lines.push(line),
    ...options,
  });
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended ??= server.close();
    return ended;
  };
  atEnd(close);
  return { ...server, lines, close };
}
