/** Numbers for Prometheus, on a port of their own: the public port never shows them. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Observer } from "./observe.js";
import type { Release } from "./release.js";

export interface Metrics {
  readonly observe: Observer;
  readonly text: () => Promise<string>;
}

// Seconds; answers of a memory-backed server take well under a millisecond, those of a slow line minutes.
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120];

/** Counts answers, and says which release is being served. */
export function countAnswers(release: () => Release | undefined): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const answers = new Counter({
    name: "shelters_answers_total",
    help: "Answers by kind of request and status",
    labelNames: ["route", "status"],
    registers,
  });
  const bytes = new Counter({
    name: "shelters_answer_bytes_total",
    help: "Bytes of answers, as announced",
    labelNames: ["route"],
    registers,
  });
  const cut = new Counter({
    name: "shelters_answers_cut_total",
    help: "Answers that the client did not take to their end",
    labelNames: ["route"],
    registers,
  });
  const seconds = new Histogram({
    name: "shelters_answer_seconds",
    help: "From request to the last byte",
    labelNames: ["route"],
    buckets: BUCKETS,
    registers,
  });
  describeRelease(release, registers);
  // In a worker of --workers: lets the primary process gather what every worker counted.
  AggregatorRegistry.setRegistries(registers);
  return {
    observe: (seen) => {
      answers.inc({ route: seen.route, status: seen.status });
      bytes.inc({ route: seen.route }, seen.bytes);
      seconds.observe({ route: seen.route }, seen.seconds);
      if (!seen.isComplete) cut.inc({ route: seen.route });
    },
    text: () => register.metrics(),
  };
}

function describeRelease(release: () => Release | undefined, registers: Registry[]): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      aggregator: "max",
      collect() {
        this.set(value());
      },
    });
  };
  gauge("shelters_places", "Places of the release", () => release()?.manifest.count ?? 0);
  gauge(
    "shelters_data_timestamp_seconds",
    "Date of the data",
    () => Date.parse(release()?.manifest.date ?? "1970-01-01") / 1000,
  );
}

/** In a worker: answers the primary process when it gathers. */
export function shareMetrics(): void {
  new AggregatorRegistry();
}

/** In the primary process: what all workers counted. */
export function gatherMetrics(): () => Promise<string> {
  const gathered = new AggregatorRegistry();
  return () => gathered.clusterMetrics();
}

/** Serves `/metrics`. Port 0 = any free one. */
export async function serveMetrics(
  host: string,
  port: number,
  text: () => Promise<string>,
): Promise<{ readonly address: string; close(): void }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/metrics" || request.method !== "GET") {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (body) =>
        response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${taken}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
