import type { Pace } from "./workloads.js";
export async function benchPeers(
  _w: string,
  _s: readonly number[],
  _p: Pace,
  _say: (text: string) => void,
): Promise<void> {}
