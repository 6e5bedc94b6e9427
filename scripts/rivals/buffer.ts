/** node:http with one Buffer made beforehand: the most that any server on it can give for bodies of a size (`/SIZE`). */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const bodies = new Map<string, Buffer>();
const server = createServer((request, response) => {
  const path = request.url ?? "/0";
  let body = bodies.get(path);
  if (body === undefined) {
    body = Buffer.alloc(Number(path.slice(1)), "x");
    bodies.set(path, body);
  }
  response.writeHead(200, { "Content-Type": "application/geo+json", "Content-Length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
