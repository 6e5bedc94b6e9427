/** `/healthz`: whether the server answers, of which generation, and how old the data are. */

import { type Answer, cacheableHeaders, problem } from "../answer.js";
import type { Release } from "../release/release.js";

export const HEALTH_PATH = "/healthz";

/** 200 while a release is being served: for load balancers and for people who ask how old the data are. */
export function answerHealth({ manifest }: Release, method: string, now: Date): Answer {
  if (method !== "GET" && method !== "HEAD")
    return problem(405, `${HEALTH_PATH} answers GET and HEAD only.`, { headers: { Allow: "GET, HEAD" } });
  const health = {
    status: "ok",
    generation: manifest.generation,
    date: manifest.date,
    ageSeconds: Math.max(0, Math.round((now.getTime() - Date.parse(manifest.date)) / 1000)),
    places: manifest.count,
    // Of a copy that is not complete yet.
    ...(manifest.missing !== undefined && { missing: manifest.missing }),
  };
  const body = Buffer.from(`${JSON.stringify(health)}\n`);
  return {
    status: 200,
    headers: {
      ...cacheableHeaders("manifest"),
      "Cache-Control": "no-store",
      "Content-Type": "application/json",
      "Content-Length": String(body.length),
    },
    body: method === "HEAD" ? [] : [body],
  };
}
