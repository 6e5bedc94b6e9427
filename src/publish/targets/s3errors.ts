/** What a store says when it refuses, as something that its user can mend. */

import { UserError } from "../../errors.js";

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  AccessDenied: "the credentials may not do that",
  InvalidAccessKeyId: "the access key is unknown",
  SignatureDoesNotMatch: "the secret key is wrong",
  CredentialsProviderError: "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  ECONNREFUSED: "nothing answers there",
  ENOTFOUND: "the host name is unknown",
  ETIMEDOUT: "no answer in time",
  TimeoutError: "no answer in time",
  SlowDown: "the store is too busy; run it again later",
};

/** Runs a request to a store. Throws UserError `system` for what the store or the line answers. */
export async function explained<Result>(title: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
    const hint = HINTS[error.name] ?? HINTS[code];
    if (hint === undefined && !("$metadata" in error)) throw error;
    const cause = { cause: error };
    throw new UserError("system", `${title}: ${hint ?? `${error.name}: ${error.message}`}.`, [], cause);
  }
}

/** Whether a store refused what it was asked with one of these codes. */
export function isRefusal(error: unknown, codes: RegExp): boolean {
  return error instanceof Error && codes.test(error.name);
}
