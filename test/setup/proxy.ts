/** Bad lines of a test file, closed when it ends. */

import { type BadLine, type Faults, startProxy } from "./badline.js";
import { atEnd } from "./cleanup.js";

/** A line to a server at `target`, closed at the end of the test file. */
export async function openProxy(target: string, faults: Faults = {}, seed = 1): Promise<BadLine> {
  const proxy = await startProxy(target, faults, seed);
  atEnd(proxy.close);
  return proxy;
}
