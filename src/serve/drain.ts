/**
 * Knows which connections have answers under way, so that none is cut or written into. node's own `close` drops a connection
 * as soon as its answer was handed over, with megabytes of it still unsent; here a connection counts as busy until the system
 * has taken the last byte.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

export interface Answers {
  /** Runs `then` as soon as no answer is under way on a connection, at once where there is none. */
  after(socket: Socket, then: () => void): void;
  /** Stops the server, after at most `grace` ms. */
  stop(grace: number): Promise<void>;
}

/** Watches a server from its start on. */
export function watchAnswers(server: Server): Answers {
  const unsent = new Map<Socket, number>(); // answers under way on each connection
  const waiting = new Map<Socket, () => void>();
  let isStopping = false;
  server.on("connection", (socket: Socket) => {
    unsent.set(socket, 0);
    socket.once("close", () => {
      unsent.delete(socket);
      waiting.delete(socket);
    });
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    unsent.set(socket, (unsent.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (unsent.get(socket) ?? 1) - 1;
      if (unsent.has(socket)) unsent.set(socket, left);
      if (left > 0) return;
      waiting.get(socket)?.();
      if (isStopping) socket.destroySoon();
    });
  });
  const stop: Answers["stop"] = (grace) =>
    new Promise((resolve) => {
      isStopping = true;
      const timer = setTimeout(() => {
        for (const socket of unsent.keys()) socket.destroy();
      }, grace);
      NetServer.prototype.close.call(server, () => {
        clearTimeout(timer);
        server.close(); // ends node's own look at time-outs
        resolve();
      });
      for (const [socket, answers] of unsent) if (answers === 0) socket.destroySoon();
    });
  return {
    after: (socket, then) => {
      if ((unsent.get(socket) ?? 0) === 0) then();
      else waiting.set(socket, then);
    },
    stop,
  };
}
