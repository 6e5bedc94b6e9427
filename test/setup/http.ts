/** HTTP as it goes over the wire: nothing is decoded, followed or kept by the client; and sockets that say what they like. */

import { type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Body as UTF-8. */
  readonly text: string;
}

/** One request on a connection of its own. */
export function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const body = Buffer.concat(chunks);
        if (!response.complete) reject(new Error(`${url}: the answer was cut off`));
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          text: body.toString("utf8"),
        });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The body as it was before it was coded. */
export function decoded({ headers, body }: Reply): Buffer {
  const coding = headers["content-encoding"];
  if (coding === "gzip") return gunzipSync(body);
  return coding === "br" ? brotliDecompressSync(body) : body;
}

/** Targets of a Link header by relation. */
export function linksOf({ headers }: Reply): ReadonlyMap<string, string> {
  const text = String(headers["link"] ?? "");
  return new Map(
    [...text.matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, target, rel]) => [rel ?? "", target ?? ""]),
  );
}

/** A bare connection to a server. */
export function openSocket(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.off("error", reject);
      socket.on("error", () => {}); // a reset is an end like any other; tests look at what came
      resolve(socket);
    });
    socket.on("error", reject);
  });
}

/** Sends bytes as they are and gives all that comes back until the server closes. */
export async function sendRaw(address: string, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(address);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  await closed(socket);
  return Buffer.concat(chunks).toString("latin1");
}

/** Resolves when the connection is over. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", () => resolve());
  });
}

/** A GET of any target text, closing the connection; status and headers in front of the body. */
export function rawGet(address: string, target: string | Buffer, headers = ""): Promise<string> {
  return sendRaw(
    address,
    Buffer.concat([
      Buffer.from("GET "),
      typeof target === "string" ? Buffer.from(target, "utf8") : target,
      Buffer.from(` HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`),
    ]),
  );
}

/** Status of a raw answer; NaN when there was none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}
