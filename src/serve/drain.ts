/**
 * Ends a server without cutting an answer. node's own `close` drops a connection as soon as its answer was handed over, with
 * megabytes of it still unsent; here a connection counts as busy until the system has taken the last byte.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** Watches a server from its start on; the returned function stops it, after at most `grace` ms. */
export function drainable(server: Server): (grace: number) => Promise<void> {
  const unsent = new Map<Socket, number>(); // answers under way on each connection
  let isStopping = false;
  server.on("connection", (socket: Socket) => {
    unsent.set(socket, 0);
    socket.once("close", () => unsent.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    unsent.set(socket, (unsent.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (unsent.get(socket) ?? 1) - 1;
      if (unsent.has(socket)) unsent.set(socket, left);
      if (isStopping && left === 0) socket.destroySoon();
    });
  });
  return (grace) =>
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
}
