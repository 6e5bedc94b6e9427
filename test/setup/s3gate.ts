/**
 * What S3 does and s3rver does not, in front of s3rver: a body is stored when it is whole and has a checksum that fits
 * (Content-MD5, x-amz-checksum-sha256), conditional writes are heeded, objects and unfinished uploads are listed in the
 * order of their keys, in pages. Signatures are checked by s3rver: all else goes on to it as it came.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { atEnd } from "./cleanup.js";
import { filesBelow } from "./folders.js";

export interface S3Request {
  readonly method: string;
  /** Name of the object, without the bucket; empty for the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
}

/** A fault as S3 says it: `{ status: 503, code: "SlowDown" }`. */
export interface S3Fault {
  readonly status: number;
  readonly code: string;
}

export interface Gate {
  readonly endpoint: string;
  /** Every request that came. */
  readonly requests: S3Request[];
  /** Set by a test: a fault in the place of an answer, or what is to happen before the request goes on. */
  meddle: (request: S3Request) => S3Fault | undefined | Promise<S3Fault | undefined>;
  /** Other stores: `ignored` writes whatever the condition says, `refused` knows no such header. */
  conditions: "heeded" | "ignored" | "refused";
}

const PAGE = 40; // keys: a small page, so that every listing has several
const OBJECT = "._S3rver_object";
const UPLOADS = "._S3rver_uploads";

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Starts a gate in front of the s3rver at `port`, which keeps `bucket` in `directory`. */
export async function startGate(port: number, directory: string, bucket: string): Promise<Gate> {
  const agent = new Agent({ keepAlive: true });
  const folder = join(directory, bucket);
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy()); // the client went away, or s3rver did
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gate: Gate = { endpoint, requests: [], meddle: () => undefined, conditions: "heeded" };
  atEnd(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });

  const busy = new Map<string, Promise<void>>(); // requests for one object go one after another: s3rver writes in the open
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", endpoint);
    const key = decodeURIComponent(url.pathname).split("/").slice(2).join("/");
    const asked = { method: request.method ?? "GET", key, query: url.searchParams };
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    gate.requests.push(asked);
    const give = async (): Promise<void> => {
      const fault =
        (await gate.meddle(asked)) ?? faultOf(asked, request.headers, Buffer.concat(chunks), folder, gate);
      const reply =
        fault !== undefined
          ? said(fault)
          : isUnknown(asked)
            ? { status: 200, headers: {}, body: Buffer.alloc(0) }
            : await pass(request, Buffer.concat(chunks));
      const { "transfer-encoding": _, connection: __, ...headers } = reply.headers;
      const body = reply.status === 200 ? (done(asked, folder) ?? reply.body) : reply.body;
      response.writeHead(reply.status, {
        ...headers,
        ...(asked.method !== "HEAD" && { "content-length": body.length }),
      });
      response.end(body);
    };
    if (key === "") return give();
    const turn = (busy.get(key) ?? Promise.resolve()).then(give, give);
    busy.set(key, turn);
    return turn;
  }

  function pass(request: IncomingMessage, body: Buffer): Promise<Reply> {
    const { method, headers, url: path } = request;
    return new Promise((resolve, reject) => {
      const sent = send({ host: "127.0.0.1", port, method, path, headers, agent }, async (reply) => {
        const chunks: Buffer[] = [];
        for await (const chunk of reply) chunks.push(chunk as Buffer);
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }
  return gate;
}

/** Why a write is not done. */
function faultOf(
  { method, key, query }: S3Request,
  headers: IncomingMessage["headers"],
  body: Buffer,
  folder: string,
  { conditions }: Gate,
): S3Fault | undefined {
  if (method !== "PUT" || key === "") return undefined;
  const digest = (algorithm: string): string => createHash(algorithm).update(body).digest("base64");
  const sums = [
    [headers["content-md5"], digest("md5")],
    [headers["x-amz-checksum-sha256"], digest("sha256")],
  ].filter(([said]) => said !== undefined);
  if (sums.length === 0) return { status: 400, code: "InvalidRequest" };
  if (sums.some(([said, found]) => said !== found)) return { status: 400, code: "BadDigest" };
  const { "if-match": only, "if-none-match": none } = headers;
  if (query.has("uploadId") || (only === undefined && none === undefined) || conditions === "ignored")
    return undefined;
  if (conditions === "refused") return { status: 501, code: "NotImplemented" };
  const mark = markOf(folder, key);
  const isMet = none === "*" ? mark === null : mark === only;
  return isMet ? undefined : { status: 412, code: "PreconditionFailed" };
}

function said({ status, code }: S3Fault): Reply {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body: Buffer.from(body) };
}

/** The ETag of an object; null where there is none. */
function markOf(folder: string, key: string): string | null {
  const path = join(folder, `${key}${OBJECT}.md5`);
  return existsSync(path) ? `"${readFileSync(path, "utf8")}"` : null;
}

/** What s3rver has no answer for, or takes for another request. */
function isUnknown({ method, query }: S3Request): boolean {
  if (method === "DELETE") return query.has("uploadId");
  return method === "GET" && (query.has("uploads") || query.has("continuation-token"));
}

/** AbortMultipartUpload, ListMultipartUploads and ListObjectsV2. */
function done({ method, key, query }: S3Request, folder: string): Buffer | undefined {
  if (method === "DELETE" && query.has("uploadId"))
    rmSync(join(folder, UPLOADS, query.get("uploadId") ?? ""), { recursive: true });
  if (method !== "GET" || key !== "") return undefined;
  const prefix = query.get("prefix") ?? "";
  if (query.has("uploads")) {
    const uploads = unfinished(folder).filter((upload) => upload.key.startsWith(prefix));
    const from = uploads.findIndex(({ id }) => id === query.get("upload-id-marker")) + 1;
    const page = uploads.slice(from, from + 1);
    const last = page.at(-1);
    const isTruncated = from + 1 < uploads.length;
    const next = `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${last?.id}</NextUploadIdMarker>`;
    const rows = page.map(({ key, id }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    return xml("ListMultipartUploadsResult", isTruncated, [...rows, isTruncated ? next : ""]);
  }
  const after = query.get("continuation-token") ?? "";
  const start = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const keys = (existsSync(join(folder, start)) ? filesBelow(join(folder, start)) : [])
    .filter((path) => path.endsWith(OBJECT))
    .map((path) => start + path.slice(0, -OBJECT.length))
    .filter((name) => name.startsWith(prefix) && name > after)
    .sort();
  const rows = keys.slice(0, PAGE).map((name) => {
    const mark = markOf(folder, name); // null while it is being written
    return mark === null ? "" : `<Contents><Key>${name}</Key><ETag>${mark}</ETag></Contents>`;
  });
  const isTruncated = keys.length > PAGE;
  const next = `<NextContinuationToken>${keys[PAGE - 1]}</NextContinuationToken>`;
  return xml("ListBucketResult", isTruncated, [...rows, isTruncated ? next : ""]);
}

function xml(name: string, isTruncated: boolean, rows: readonly string[]): Buffer {
  return Buffer.from(
    `<?xml version="1.0"?><${name}><IsTruncated>${isTruncated}</IsTruncated>${rows.join("")}</${name}>`,
  );
}

/** Uploads in parts that nobody completed or aborted, by key. */
export function unfinished(folder: string): { readonly key: string; readonly id: string }[] {
  const uploads = join(folder, UPLOADS);
  if (!existsSync(uploads)) return [];
  return readdirSync(uploads)
    .map((id) => ({ key: readFileSync(join(uploads, id, "key"), "utf8"), id }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
