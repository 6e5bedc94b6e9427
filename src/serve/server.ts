/** node:http around a release: routing, sending, limits, and the step to a new release without a lost request. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { promisify } from "node:util";
import { type Answer, problem } from "../answer.js";
import { systemCode, UserError } from "../errors.js";
import type { Release } from "../release/release.js";
import { settle } from "../release/swap.js";
import { watchAnswers } from "./drain.js";
import { followRelease } from "./follow.js";
import { type Observer, watchWith } from "./observe.js";
import { forwardedBase } from "./proxy.js";
import { routeRequest } from "./route.js";
import { send } from "./send.js";
import { inShortTurns } from "./turns.js";

export interface ServerOptions {
  readonly site: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Bytes of file contents to keep in memory. */
  readonly memory?: number;
  /** A line for the log: a new release, a fault. Never holds text of a request. */
  readonly log: (line: string) => void;
  /** Take scheme, host and prefix of links from the X-Forwarded headers of a proxy in front. Default: no. */
  readonly trustProxy?: boolean;
  /** Told of every answer. */
  readonly observers?: readonly Observer[];
  /** Instead of the defaults below; tests do not wait for minutes. */
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer {
  readonly address: string;
  readonly release: () => Release;
  /** Connections that are open now. */
  connections(): Promise<number>;
  /** Stops listening, lets answers in flight end, then closes everything. */
  close(): Promise<void>;
}

const defaultLimits = {
  connections: 2000, // at once; the next one is closed
  headers: 10_000, // ms until the request line and headers are there
  request: 15_000, // ms until a body, which nobody needs, is there
  stall: 60_000, // ms without a byte going either way, up to twice that in the middle of an answer; a slow line that moves is never cut
  keepAlive: 15_000, // ms an idle connection is kept
  check: 1_000, // ms between looks at these limits
  grace: 10_000, // ms for answers in flight when stopping
  headerBytes: 16 * 1024,
};

type ServerLimits = Readonly<typeof defaultLimits>;

/** What stays the same from one release to the next. */
interface Standing {
  readonly current: ReturnType<typeof followRelease>;
  readonly log: (line: string) => void;
  readonly watch: ReturnType<typeof watchWith>;
  readonly trustProxy: boolean;
}

/** Serves a release folder until `close`. Throws UserError: `damaged` (no release), `busy` (port taken). */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...defaultLimits, ...options.limits };
  settle(options.site);
  const current = followRelease(options);
  const standing: Standing = {
    current,
    log: options.log,
    watch: watchWith(options.observers ?? []),
    trustProxy: options.trustProxy ?? false,
  };
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    requireHostHeader: false, // node's own answer would lack what every answer of ours has: see `handle`
    connectionsCheckingInterval: limits.check,
  });
  const answer = inShortTurns((request, response) => handle(standing, request, response));
  server.on("request", answer);
  // The final answer at once: node would write its 100 into the middle of an answer that waits behind another.
  server.on("checkContinue", answer);
  server.on("checkExpectation", answer); // nothing can be expected of a server that answers GET (RFC 9110, 10.1.1)
  const answers = watchAnswers(server);
  server.headersTimeout = limits.headers;
  server.requestTimeout = limits.request;
  server.keepAliveTimeout = limits.keepAlive;
  server.timeout = limits.stall;
  server.maxConnections = limits.connections;
  // Behind the answers that are under way: in the middle of one it would become part of a file.
  server.on("clientError", (error, socket: Socket) =>
    answers.after(socket, () => refuseUnreadable(error, socket)),
  );
  server.on("connect", (_request, socket: Socket) => {
    socket.on("error", () => socket.destroy()); // node hands the connection over, resets and all
    answers.after(socket, () => endWith(socket, "405 Method Not Allowed"));
  });
  // A reset where bytes wait for a client that does not read: else the system would keep megabytes of them for it.
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) socket.resetAndDestroy();
    else socket.destroy();
  });
  try {
    // A crowd that comes at once waits to be let in: whom the system has no room for tries again ever later, up to a minute.
    await listen(server, options, limits.connections);
  } catch (error) {
    current.stop();
    throw error;
  }
  const { address, port, family } = server.address() as AddressInfo;
  return {
    address: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    release: current.release,
    connections: () => promisify(server.getConnections.bind(server))(),
    close: async () => {
      await answers.stop(limits.grace);
      current.stop();
    },
  };
}

function listen(server: Server, { host, port }: ServerOptions, backlog: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const isTaken = systemCode(error) === "EADDRINUSE";
      const isForbidden = ["EACCES", "EADDRNOTAVAIL", "ENOTFOUND"].includes(systemCode(error) ?? "");
      if (isTaken)
        reject(
          new UserError(
            "busy",
            `Port ${port} of ${host} is taken. Name another one with --port, or 0 for any free one.`,
          ),
        );
      else if (isForbidden)
        reject(new UserError("usage", `Cannot listen on ${host}, port ${port}: ${systemCode(error)}.`));
      else reject(error);
    });
    server.listen({ port, host, backlog }, resolve);
  });
}

function handle(standing: Standing, request: IncomingMessage, response: ServerResponse): void {
  const { current, log, watch, trustProxy } = standing;
  const release = current.release();
  request.resume(); // nobody needs a body; unread, it would hold the connection
  const answerWith = (answer: Answer): void => send(release, request, response, answer, log);
  try {
    const { method = "GET", url = "/", headers } = request;
    if (request.httpVersion === "1.1" && headers.host === undefined) {
      answerWith(problem(400, "A request of HTTP/1.1 names its host."));
      return;
    }
    const base = trustProxy ? forwardedBase(headers) : "";
    const routed = routeRequest(release, { method, url, headers, base });
    watch(release, routed, request, response);
    if (routed.answer !== null) answerWith(routed.answer);
    else
      current.others()(request, response, () =>
        answerWith(problem(404, "There is nothing at this address. See / for what is here.")),
      );
  } catch (error) {
    log(`Fault while answering: ${error instanceof Error ? error.stack : String(error)}`);
    if (response.headersSent) response.destroy();
    else answerWith(problem(500, "The server made a mistake; it is in the log."));
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is no HTTP gets a status line and is cut off. */
function refuseUnreadable(error: Error, socket: Socket): void {
  const code = systemCode(error) ?? "";
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  endWith(socket, UNREADABLE[code] ?? "400 Bad Request");
}

const LINGER = 1_000; // ms for what was said last to arrive; then a client that holds its end open is cut off

function endWith(socket: Socket, status: string): void {
  const headers = "Connection: close\r\nContent-Length: 0\r\nAccess-Control-Allow-Origin: *";
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n`);
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once("close", () => clearTimeout(timer));
}
