/** A server that passes requests on to a good one and spoils one thing about the answers, as real hosts do. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./cleanup.js";
import { ask, type Reply } from "./http.js";

export interface Spoiling {
  /** Changes what is asked, or answers instead of asking. */
  readonly before?: (asked: Asked) => Asked | Reply;
  /** Changes what is answered. */
  readonly after?: (reply: Reply, asked: Asked) => Reply;
}

export interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts a spoiling server in front of a good one; gives its address. */
export async function spoil(
  good: string,
  { before = (asked) => asked, after = (reply) => reply }: Spoiling,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { url = "/", method = "GET" } = request;
    const { connection: _, host: __, ...headers } = request.headers as Record<string, string>;
    const asked = before({ url, method, headers });
    const reply =
      "status" in asked
        ? asked
        : after(await ask(good + asked.url, asked.headers, asked.method), { url, method, headers });
    const { "transfer-encoding": ___, connection: ____, ...kept } = reply.headers;
    const isWhole = method !== "HEAD" && reply.status !== 304;
    response.writeHead(reply.status, {
      ...kept,
      ...(isWhole && { "content-length": String(reply.body.length) }),
    });
    response.end(isWhole ? reply.body : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An answer made here. */
export function reply(status: number, headers: Readonly<Record<string, string>>, text: string): Reply {
  return { status, headers, body: Buffer.from(text), text };
}

/** The answer with other headers; `null` takes one away. */
export function withHeaders(answer: Reply, changes: Readonly<Record<string, string | null>>): Reply {
  const entries = Object.entries({ ...answer.headers, ...changes }).filter(([, value]) => value !== null);
  return { ...answer, headers: Object.fromEntries(entries) as Reply["headers"] };
}

/** The request without some headers. */
export function without(asked: Asked, ...names: readonly string[]): Asked {
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !names.includes(name)));
  return { ...asked, headers };
}
