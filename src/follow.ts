/** The step from one release to the next while the server runs. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { otherFiles } from "./files.js";
import { MANIFEST } from "./manifest.js";
import { loadRelease, openRelease } from "./release.js";

export interface FollowOptions {
  readonly site: string;
  /** Bytes of file contents to keep in memory. */
  readonly memory?: number;
  readonly log: (line: string) => void;
}

const times = {
  watch: 1_000, // ms between looks at the release
  retry: 5_000, // ms until a release that could not be opened is tried again
} as const;

/** Opens the release and goes over to a new one when its manifest changes. */
export function followRelease({ site, memory, log }: FollowOptions) {
  const fingerprint = (): string | null => {
    const stats = statSync(join(site, MANIFEST), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? null : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
  };
  let seen = fingerprint();
  let release = openRelease(site, memory);
  let others = otherFiles(site);
  let retryAt = 0;
  let isLoading = false;
  let isStopped = false;
  const step = async (now: string): Promise<void> => {
    const next = await loadRelease(site, memory);
    // Files were opened one after another: only if the folder is still the same are they of one release.
    if (isStopped || fingerprint() !== now) {
      next.retire();
      return;
    }
    const previous = release;
    release = next;
    others = otherFiles(site);
    seen = now;
    retryAt = 0;
    previous.retire();
    log(
      `New release: generation ${next.manifest.generation}, data of ${next.manifest.date}, ${next.manifest.count} places.`,
    );
  };
  const look = (): void => {
    const now = fingerprint();
    if (now === null || now === seen || isLoading || Date.now() < retryAt) return;
    isLoading = true;
    step(now)
      .catch((error: unknown) => {
        if (fingerprint() !== now) return; // replaced by a newer one while it was opened: that one is next
        // Half a copy, perhaps: the old release goes on serving from memory and open files.
        if (retryAt === 0)
          log(
            `The new release cannot be opened yet, the old one goes on: ${error instanceof Error ? error.message : String(error)}`,
          );
        retryAt = Date.now() + times.retry;
      })
      .finally(() => {
        isLoading = false;
      });
  };
  const timer = setInterval(look, times.watch);
  timer.unref();
  return {
    release: () => release,
    others: () => others,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      release.retire();
    },
  };
}
