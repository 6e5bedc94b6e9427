/** Plain sirv on a release, as its README shows it: what serving the files costs without this program. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sirv from "sirv";

const serve = sirv(process.argv[2] ?? "", { gzip: true, brotli: true, etag: true });
const server = createServer((request, response) => serve(request, response));
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
