/** Errors as RFC 9457 problem details: their text, the same in an answer and in the contract's sample. */

import type { Fault } from "./query.js";

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  404: "Not found",
  405: "Method not allowed",
  414: "URI too long",
  416: "Range not satisfiable",
  500: "Internal server error",
  503: "Service unavailable",
};

/** The JSON document of an error. */
export function problemDocument(status: number, detail: string, errors?: readonly Fault[]): string {
  const title = TITLES[status] ?? "Error";
  return `${JSON.stringify({ type: "about:blank", title, status, detail, ...(errors && { errors }) }, null, 1)}\n`;
}

/** What a 400 says of all faults of a request. */
export function wrongParameters(faults: readonly Fault[]): string {
  const names = [...new Set(faults.map(({ parameter }) => parameter))].join(", ");
  return `Wrong parameter: ${names}. See errors for what is accepted; all parameters are described in /openapi.json.`;
}
