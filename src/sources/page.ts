/** One page of a service's answer: decoded, checked to be what was asked for, counted. */

import { BadAnswer, excerpt } from "./http.js";

export interface Collection {
  readonly features: readonly unknown[];
  readonly members: Readonly<Record<string, unknown>>;
}

/** A FeatureCollection, or a BadAnswer that says what came instead. UTF-8 only: another encoding would change names. */
export function readCollection(body: Buffer): Collection {
  if (body.length === 0) throw new BadAnswer("its answer is empty");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body); // takes a byte order mark off
  } catch (error) {
    throw new BadAnswer(`its answer is not UTF-8 (${excerpt(body)})`, null, { cause: error });
  }
  if (/^\s*</.test(text))
    throw new BadAnswer(`it answered HTML or XML (${excerpt(body)}) instead of GeoJSON`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = text.trimEnd().endsWith("}") ? "is not valid JSON" : "is cut off or is no JSON";
    throw new BadAnswer(`its answer of ${body.length} bytes ${reason} (${excerpt(body)})`, null, {
      cause: error,
    });
  }
  if (typeof value !== "object" || value === null || !("features" in value) || !Array.isArray(value.features))
    throw new BadAnswer(`its answer is JSON, but no GeoJSON FeatureCollection (${excerpt(body)})`);
  const { features, ...members } = value;
  return { features, members };
}

/** The records of a page that was read before. */
export function recordsOf(body: Buffer): readonly unknown[] {
  return readCollection(body).features;
}
