import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { inShortTurns } from "../src/serve/turns.js";

const REQUESTS = 40;

test("requests that take long together leave room for connections between them, and keep their order", async () => {
  const turns: number[] = []; // in which turn of the event loop each was handled
  const order: string[] = [];
  let turn = 0;
  const handle = inShortTurns((request) => {
    const end = performance.now() + 1;
    while (performance.now() < end); // as much work as a turn is to hold
    turns.push(turn);
    order.push(request.url ?? "");
  });
  const urls = Array.from({ length: REQUESTS }, (_, index) => `/${index}`);
  for (const url of urls) {
    const request = new IncomingMessage(new Socket());
    request.url = url;
    handle(request, new ServerResponse(request));
  }
  for (; order.length < REQUESTS && turn < 1000; turn++) await new Promise(setImmediate);
  expect(order).toEqual(urls);
  for (let one = 0; one < turn; one++)
    expect(turns.filter((seen) => seen === one).length).toBeLessThanOrEqual(2);
});

test("requests that are quick are handled at once", () => {
  let handled = 0;
  const handle = inShortTurns(() => {
    handled++;
  });
  const request = new IncomingMessage(new Socket());
  handle(request, new ServerResponse(request));
  expect(handled).toBe(1);
});
