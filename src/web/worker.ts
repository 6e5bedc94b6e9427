/** The service worker's own world, as far as it is used here: TypeScript has no library that holds page and worker both. */

import type { WorkerMessage } from "./offline.js";

interface WorkerScope {
  readonly registration: { readonly scope: string };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: {
      readonly includeUncontrolled: boolean;
      readonly type: "all";
    }): Promise<readonly Client[]>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate" | "message", listener: (event: WaitEvent) => void): void;
  addEventListener(name: "fetch", listener: (event: AskEvent) => void): void;
}

interface Client {
  readonly id: string;
  postMessage(message: WorkerMessage): void;
}

interface WaitEvent {
  waitUntil(work: Promise<unknown>): void;
}

/** A request of a page or of a worker of its. */
export interface AskEvent extends WaitEvent {
  readonly request: Request;
  /** Who asks; empty for a page that is only about to be. */
  readonly clientId: string;
  /** The page or worker that the answer becomes; empty for all other answers. */
  readonly resultingClientId: string;
  respondWith(answer: Promise<Response>): void;
}

export const worker = globalThis as unknown as WorkerScope;

/** Address of the release. */
export const scope = new URL(worker.registration.scope);

/** Address of a file of the release. */
export function fileAddress(path: string): string {
  return new URL(path, scope).href;
}

/** Every open page and worker of this origin. */
export function openClients(): Promise<readonly Client[]> {
  return worker.clients.matchAll({ includeUncontrolled: true, type: "all" });
}

/** Tells every open page. */
export async function tell(message: WorkerMessage): Promise<void> {
  for (const client of await openClients()) client.postMessage(message);
}
