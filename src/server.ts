/** node:http around a release: routing, sending, limits, and the step to a new release without a lost request. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Answer, problem } from "./answer.js";
import { API_PATH, answerApi } from "./api.js";
import { drainable } from "./drain.js";
import { systemCode, UserError } from "./errors.js";
import { answerFile, type OtherFiles } from "./files.js";
import { followRelease } from "./follow.js";
import type { Release } from "./release.js";
import { send } from "./send.js";
import { settle } from "./swap.js";

export interface ServerOptions {
  readonly site: string;
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Bytes of file contents to keep in memory. */
  readonly memory?: number;
  /** A line for the log: a new release, a fault. Never holds text of a request. */
  readonly log: (line: string) => void;
  /** Instead of the defaults below; tests do not wait for minutes. */
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer {
  readonly address: string;
  readonly release: () => Release;
  /** Stops listening, lets answers in flight end, then closes everything. */
  close(): Promise<void>;
}

const defaultLimits = {
  connections: 2000, // at once; the next one is closed
  headers: 10_000, // ms until the request line and headers are there
  request: 15_000, // ms until a body, which nobody needs, is there
  stall: 60_000, // ms without a byte going either way; a slow line that moves is never cut
  keepAlive: 15_000, // ms an idle connection is kept
  check: 1_000, // ms between looks at these limits
  grace: 10_000, // ms for answers in flight when stopping
  headerBytes: 16 * 1024,
};

type ServerLimits = Readonly<typeof defaultLimits>;

/** Serves a release folder until `close`. Throws UserError: `damaged` (no release), `busy` (port taken). */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...defaultLimits, ...options.limits };
  settle(options.site);
  const current = followRelease(options);
  const server = createServer(
    { maxHeaderSize: limits.headerBytes, connectionsCheckingInterval: limits.check },
    (request, response) => {
      handle(current.release(), current.others(), request, response, options.log);
    },
  );
  const stop = drainable(server);
  server.headersTimeout = limits.headers;
  server.requestTimeout = limits.request;
  server.keepAliveTimeout = limits.keepAlive;
  server.timeout = limits.stall;
  server.maxConnections = limits.connections;
  server.on("clientError", refuseUnreadable);
  try {
    await listen(server, options);
  } catch (error) {
    current.stop();
    throw error;
  }
  const { address, port, family } = server.address() as AddressInfo;
  return {
    address: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    release: current.release,
    close: async () => {
      await stop(limits.grace);
      current.stop();
    },
  };
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
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
    server.listen(port, host, resolve);
  });
}

function handle(
  release: Release,
  others: OtherFiles,
  request: IncomingMessage,
  response: ServerResponse,
  log: (line: string) => void,
): void {
  request.resume(); // nobody needs a body; unread, it would hold the connection
  try {
    const answer = route(release, request);
    if (answer !== null) send(release, request, response, answer, log);
    else
      others(request, response, () =>
        send(
          release,
          request,
          response,
          problem(404, "There is nothing at this address. See / for what is here."),
          log,
        ),
      );
  } catch (error) {
    log(`Fault while answering: ${error instanceof Error ? error.stack : String(error)}`);
    if (response.headersSent) response.destroy();
    else send(release, request, response, problem(500, "The server made a mistake; it is in the log."), log);
  }
}

// Absolute form, as a proxy is sent it; a server must accept it too (RFC 9112, 3.2.2).
const ABSOLUTE = /^https?:\/\/[^/?#]*\/?/i;

/** null = not a file of the release. */
function route(
  release: Release,
  { method = "GET", url: sent = "/", headers }: IncomingMessage,
): Answer | null {
  const url = sent.replace(ABSOLUTE, "/");
  const question = url.indexOf("?");
  const path = decodePath(question === -1 ? url : url.slice(0, question));
  if (path === null) return problem(400, "The path of the address is not valid percent-encoded UTF-8.");
  if (path === API_PATH)
    return answerApi(release, method, question === -1 ? "" : url.slice(question + 1), headers);
  return answerFile(release, method, path, headers);
}

function decodePath(path: string): string | null {
  // A request target has no fragment (RFC 9112, 3.2); sirv would cut it off and answer with a file of the manifest.
  if (!path.startsWith("/") || path.includes("#")) return null;
  if (!path.includes("%")) return path;
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
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
  socket.end(
    `HTTP/1.1 ${UNREADABLE[code] ?? "400 Bad Request"}\r\nConnection: close\r\nContent-Length: 0\r\nAccess-Control-Allow-Origin: *\r\n\r\n`,
  );
}
