import { expect, test } from "vitest";
import { createPositions, readPositions } from "../src/release/positions.js";

test("positions of a file below 4 GiB take four bytes each, and are the same when they are read", () => {
  const positions = createPositions(3);
  for (const [index, position] of [0, 77, 2 ** 32 - 1].entries()) positions.set(index, position);
  const values = positions.values();
  expect([...values]).toEqual([0, 77, 2 ** 32 - 1]);
  expect(values.byteLength).toBe(12);
  expect(readPositions(values.buffer, 3)).toEqual(values);
});

test("a position beyond 4 GiB is kept exactly, as are those before it", () => {
  const positions = createPositions(4);
  const wanted = [0, 2 ** 32 - 1, 2 ** 32, 2 ** 45 + 1];
  for (const [index, position] of wanted.entries()) positions.set(index, position);
  expect([...positions.values()]).toEqual(wanted);
  expect([...readPositions(positions.values().buffer, 4)]).toEqual(wanted);
});
