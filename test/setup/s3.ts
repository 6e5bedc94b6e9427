/** A real S3 server (s3rver) as a process of its own on the loopback address, with one bucket, behind a gate that is strict. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { atEnd } from "./cleanup.js";
import { temporaryFolder } from "./folders.js";
import { type Gate, startGate } from "./s3gate.js";

export const BUCKET = "shelters";

export interface S3Server {
  readonly endpoint: string;
  readonly gate: Gate;
  /** Where it keeps its bucket. */
  readonly folder: string;
  /** For a process that writes to it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts it empty; it ends with the test file. */
export async function startS3(): Promise<S3Server> {
  const program = join(
    dirname(createRequire(import.meta.url).resolve("s3rver/package.json")),
    "bin/s3rver.js",
  );
  const directory = temporaryFolder();
  const where = ["--address", "127.0.0.1", "--port", "0", "--directory", directory];
  // Its continuation tokens use a cipher that OpenSSL 3 keeps behind this switch.
  const args = ["--openssl-legacy-provider", program, ...where, "--configure-bucket", BUCKET];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  atEnd(async () => {
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: server.stdout });
  const port = await new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => {
      const found = /listening on \S*?:(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    server.once("exit", (code) => reject(new Error(`s3rver ended with ${code}`)));
  });
  const gate = await startGate(Number(port), directory, BUCKET);
  const { endpoint } = gate;
  const env = {
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL_S3: endpoint,
  };
  return { endpoint, gate, folder: join(directory, BUCKET), env };
}
