/** Bad lines of a test file, closed when it ends. */

import { afterAll } from "vitest";
import { type BadLine, type Faults, startProxy } from "./badline.js";

/** A line to a server at `target`, closed at the end of the test file. */
export async function openProxy(target: string, faults: Faults = {}, seed = 1): Promise<BadLine> {
  const proxy = await startProxy(target, faults, seed);
  afterAll(proxy.close);
  return proxy;
}
