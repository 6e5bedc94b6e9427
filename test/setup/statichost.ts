/** A host of files alone, closed at the end of the test file. */

import { cpSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readManifest } from "../../src/release/manifest.js";
import { atEnd } from "./cleanup.js";
import { temporaryFolder } from "./folders.js";

/** Files and nothing else: no ranges, no codings, no endpoint. */
export async function staticHost(folder: string): Promise<string> {
  const copy = join(temporaryFolder(), "copy");
  cpSync(folder, copy, { recursive: true });
  const { files } = readManifest(copy).manifest;
  const types = new Map(files.map(({ path, mediaType }) => [path, mediaType]));
  const host = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").split("?")[0] ?? "").slice(1) || "index.html";
    const type = types.get(path);
    if (type === undefined) response.writeHead(404).end("nothing here");
    else response.writeHead(200, { "Content-Type": type }).end(readFileSync(join(copy, path)));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  atEnd(() => new Promise((resolve) => host.close(resolve)));
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
}
