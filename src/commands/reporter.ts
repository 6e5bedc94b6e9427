/** What the command line shows: progress on a terminal, a line a step elsewhere, JSON for scripts. */

import yoctoSpinner, { type Spinner } from "yocto-spinner";

/** What the global options ask for. */
export interface Output {
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** Lines for people go to stderr, so that `--json` has stdout for itself; a terminal sees progress. */
export function createReporter({ quiet = false, json = false }: Output) {
  const isTerminal = process.stderr.isTTY === true && !quiet && !json;
  let spinner: Spinner | null = null;
  const step = (text: string): void => {
    if (!isTerminal) return;
    if (spinner === null) spinner = yoctoSpinner({ text, stream: process.stderr }).start();
    else spinner.text = text;
  };
  const clear = (): void => {
    spinner?.stop();
    spinner = null;
  };
  return {
    step,
    clear,
    line: (text: string): void => {
      clear();
      if (!quiet && !json) process.stderr.write(`${text}\n`);
    },
    result: (value: unknown): void => {
      clear();
      if (json) process.stdout.write(`${JSON.stringify(value)}\n`);
    },
  };
}

export type Reporter = ReturnType<typeof createReporter>;
