/** A guest at a service: one request at a time, Retry-After, back-off, a deadline for all of a pull. */

import pRetry from "p-retry";
import { UserError } from "../errors.js";
import { program } from "../program.js";
import { type Answer, BadAnswer, FinalAnswer, openAgent, request } from "./http.js";
import { type NetworkLimits, networkDefaults, type Validators } from "./source.js";

export interface Client {
  /**
   * Fetches `url` and gives what `read` makes of it; an answer that `read` refuses is asked for again like a failed one.
   * Throws UserError `source`.
   */
  get<Result>(url: string, validators: Validators | null, read: (answer: Answer) => Result): Promise<Result>;
  close(): Promise<void>;
}

/** One client for one pull: its total deadline begins here. */
export function createClient(options: {
  readonly limits: Partial<NetworkLimits>;
  readonly contact: string | null;
  readonly onRetry: (text: string) => void;
}): Client {
  const limits: NetworkLimits = { ...networkDefaults, ...options.limits };
  const total = new AbortController();
  const deadline = total.signal;
  const timer = setTimeout(() => total.abort(), limits.deadline);
  const agent = openAgent(limits);
  const userAgent = `${program.name}/${program.version}${options.contact === null ? "" : ` (+${options.contact})`}`;
  return {
    get: async (url, validators, read) => {
      let attempts = 0;
      try {
        return await pRetry(
          async () => {
            attempts++;
            return read(await request(url, validators, { limits, agent, userAgent, deadline }));
          },
          {
            retries: limits.attempts - 1,
            minTimeout: limits.pause,
            maxTimeout: limits.longestPause,
            randomize: true,
            signal: deadline,
            shouldRetry: ({ error }) => mayPass(error),
            onFailedAttempt: ({ error, retriesLeft }) =>
              waitAsAsked(error, retriesLeft, url, options, limits),
          },
        );
      } catch (error) {
        throw explainFailure(error, url, attempts, deadline.aborted, limits);
      }
    },
    close: () => {
      clearTimeout(timer);
      return agent.destroy();
    },
  };
}

/** Whether asking again may bring a better answer. */
function mayPass(error: Error): error is BadAnswer {
  return error instanceof BadAnswer && !(error instanceof FinalAnswer);
}

async function waitAsAsked(
  error: Error,
  retriesLeft: number,
  url: string,
  { onRetry }: { readonly onRetry: (text: string) => void },
  limits: NetworkLimits,
): Promise<void> {
  if (retriesLeft === 0 || !mayPass(error)) return;
  const asked = error.retryAfter;
  if (asked !== null && asked > limits.longestPause)
    throw new BadAnswer(`${error.message}, and asks to wait ${Math.ceil(asked / 1000)} s: too long`);
  onRetry(
    `${url}: ${error.message}. Trying again${asked === null ? "" : ` in ${Math.ceil(asked / 1000)} s, as it asks`}.`,
  );
  if (asked !== null) await new Promise((resolve) => setTimeout(resolve, asked));
}

function explainFailure(
  error: unknown,
  url: string,
  attempts: number,
  outOfTime: boolean,
  limits: NetworkLimits,
): unknown {
  if (!outOfTime && !(error instanceof BadAnswer)) return error;
  const reason =
    error instanceof BadAnswer && !outOfTime
      ? error.message
      : `the pull took longer than ${Math.round(limits.deadline / 1000)} s`;
  const tries = attempts > 1 ? ` after ${attempts} attempts` : "";
  return new UserError(
    "source",
    `${url} cannot be read${tries}: ${reason}. The places pulled before are kept.`,
    [],
    { cause: error },
  );
}
