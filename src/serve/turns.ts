/**
 * Requests in short turns. The system's connections are let in one at each turn of the event loop: were a turn as long as all
 * requests that wait take, a thousand clients that come at once would wait a minute for the last of them to be let in.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const TURN = 1; // ms

/** Calls `handle` for each request, in their order: at once while the turn lasts, else in one of the next. */
export function inShortTurns(handle: Handler): Handler {
  const waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  let end: number | null = null; // of the turn; null = none has begun
  const begin = (): void => {
    end = performance.now() + TURN;
    setImmediate(next);
  };
  const isOver = (): boolean => end !== null && performance.now() >= end;
  const next = (): void => {
    end = null;
    if (waiting.length > 0) begin();
    for (let first = waiting.shift(); first !== undefined; first = isOver() ? undefined : waiting.shift())
      handle(...first);
  };
  return (request, response) => {
    if (end === null) begin();
    if (waiting.length > 0 || isOver()) waiting.push([request, response]);
    else handle(request, response);
  };
}
