/** One HTTP request, seen as it goes over the wire: nothing is decoded, followed, kept or retried. */

import { type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const limits = {
  idle: 20_000, // ms without a byte
  bytes: 64 * 1024 * 1024, // of a body
} as const;

/** Asks; gives whatever status comes. Throws the error of the connection. */
export function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method: "GET" | "HEAD" = "GET",
): Promise<Reply> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, timeout: limits.idle }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > limits.bytes) response.destroy(new Error(`${url} sends more than ${limits.bytes} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on("timeout", () => sent.destroy(new Error(`${url}: no answer in ${limits.idle / 1000} s`)));
    sent.on("error", reject);
    sent.end();
  });
}
