/** Parts of the operator's basemap that were looked at: it is too large to be kept whole, so what was seen stays. */

import { scope } from "./worker.js";

const SEEN = `${scope.href}basemap`;
const MOST = 4000; // parts, about 100 MB of tiles
const AT_ONCE = 400; // of the oldest that go when there are more
const RANGE = "X-Content-Range"; // a cache takes no answer of status 206: it is kept as a whole one, and its range beside it

/** A part from the device, else from the server, whose answer stays. Rejects where there is neither. */
export async function answerRange(request: Request): Promise<Response> {
  const seen = await caches.open(SEEN);
  const key = `${request.url}&${request.headers.get("Range") ?? ""}`;
  const kept = await seen.match(key);
  if (kept !== undefined) return partial(kept);
  const answered = await fetch(request);
  if (answered.status === 206) await store(seen, key, answered.clone()).catch(() => {});
  return answered;
}

function partial(kept: Response): Response {
  const headers = new Headers(kept.headers);
  headers.set("Content-Range", headers.get(RANGE) ?? "");
  return new Response(kept.body, { status: 206, headers });
}

async function store(seen: Cache, key: string, answered: Response): Promise<void> {
  const headers: Record<string, string> = { [RANGE]: answered.headers.get("Content-Range") ?? "" };
  for (const name of ["ETag", "Content-Type", "Content-Length"]) {
    const value = answered.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  await seen.put(key, new Response(await answered.arrayBuffer(), { headers }));
  const keys = await seen.keys();
  const [address] = key.split("&"); // with its version: parts of another basemap are of no more use
  const stale = keys.filter(({ url }) => !url.startsWith(`${address}&`));
  const oldest = keys.length > MOST ? keys.slice(0, AT_ONCE) : [];
  for (const old of [...stale, ...oldest]) await seen.delete(old);
}
