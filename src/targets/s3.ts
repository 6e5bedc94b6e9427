/** A bucket as a target: S3, or any store that speaks its protocol. An object appears whole, with its headers, or not at all. */

import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { UserError } from "../errors.js";
import { checkedPieces } from "./checked.js";
import type { PublishObject, Target } from "./target.js";

export interface S3Options {
  readonly bucket: string;
  /** Without a slash at either end; empty for none. */
  readonly prefix: string;
  readonly region: string;
  /** Address of a store that is not Amazon's. */
  readonly endpoint?: string | undefined;
  /** Larger objects go up in parts of this many bytes; S3 takes no less than 5 MiB. */
  readonly partBytes?: number;
}

const limits = {
  part: 8 * 1024 * 1024, // bytes
  attempts: 5, // of each request, with growing pauses
  connect: 10_000, // ms
  request: 120_000, // ms
} as const;

/** Opens a bucket; credentials come from the environment, as every tool of this store takes them. */
export function openS3({ bucket, prefix, region, endpoint, partBytes = limits.part }: S3Options): Target {
  // The notice of the SDK is for programmers; package.json decides which Node we run on.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: limits.attempts,
    requestHandler: { connectionTimeout: limits.connect, requestTimeout: limits.request },
    // The SDK's own checksums are trailers that other stores refuse; Content-MD5 is understood by all of them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const title = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
  const at = (path: string) => ({ Bucket: bucket, Key: prefix === "" ? path : `${prefix}/${path}` });
  return {
    title,
    list: () => explained(title, () => listBucket(client, bucket, prefix)),
    read: (path) => explained(title, () => readObject(client, at(path))),
    put: (object) =>
      explained(title, () =>
        object.bytes > partBytes
          ? putInParts(client, at(object.path), object, partBytes)
          : putWhole(client, at(object.path), object),
      ),
    note: async (path, bytes) => {
      const headers = { ContentType: "application/json", CacheControl: "no-store", ContentMD5: md5(bytes) };
      await explained(title, () =>
        client.send(new PutObjectCommand({ ...at(path), Body: bytes, ...headers })),
      );
    },
    remove: async (path) => {
      await explained(title, () => client.send(new DeleteObjectCommand(at(path))));
    },
  };
}

interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

async function listBucket(client: S3Client, bucket: string, prefix: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folder = prefix === "" ? "" : `${prefix}/`;
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: folder, ContinuationToken: token }),
    );
    for (const { Key = "", ETag = "" } of page.Contents ?? []) found.set(Key.slice(folder.length), ETag);
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return found;
}

async function readObject(client: S3Client, place: Place): Promise<Buffer | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand(place));
    return Body === undefined ? null : Buffer.from(await Body.transformToByteArray());
  } catch (error) {
    if (error instanceof Error && error.name === "NoSuchKey") return null;
    throw error;
  }
}

function headersOf({ mediaType, cacheControl, contentEncoding, sha256 }: PublishObject) {
  return {
    ContentType: mediaType,
    CacheControl: cacheControl,
    ...(contentEncoding !== null && { ContentEncoding: contentEncoding }),
    Metadata: { sha256 },
  };
}

async function putWhole(client: S3Client, place: Place, object: PublishObject): Promise<string> {
  let mark = "";
  for await (const body of checkedPieces(object, object.bytes + 1)) {
    const put = new PutObjectCommand({ ...place, ...headersOf(object), Body: body, ContentMD5: md5(body) });
    mark = (await client.send(put)).ETag ?? "";
  }
  return mark;
}

async function putInParts(
  client: S3Client,
  place: Place,
  object: PublishObject,
  size: number,
): Promise<string> {
  const created = await client.send(new CreateMultipartUploadCommand({ ...place, ...headersOf(object) }));
  const upload = { ...place, UploadId: created.UploadId };
  try {
    const parts: { readonly ETag: string; readonly PartNumber: number }[] = [];
    for await (const body of checkedPieces(object, size)) {
      const PartNumber = parts.length + 1;
      const part = new UploadPartCommand({ ...upload, PartNumber, Body: body, ContentMD5: md5(body) });
      parts.push({ PartNumber, ETag: (await client.send(part)).ETag ?? "" });
    }
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } });
    return (await client.send(complete)).ETag ?? "";
  } catch (error) {
    // Parts that nobody completes cost their owner money.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("base64");
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  AccessDenied: "the credentials may not do that",
  InvalidAccessKeyId: "the access key is unknown",
  SignatureDoesNotMatch: "the secret key is wrong",
  CredentialsProviderError: "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  ECONNREFUSED: "nothing answers there",
  ENOTFOUND: "the host name is unknown",
  ETIMEDOUT: "no answer in time",
  TimeoutError: "no answer in time",
};

/** What the store says, as something that its user can mend. */
async function explained<Result>(title: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
    const hint = HINTS[error.name] ?? HINTS[code];
    if (hint === undefined && !("$metadata" in error)) throw error;
    const cause = { cause: error };
    throw new UserError("system", `${title}: ${hint ?? `${error.name}: ${error.message}`}.`, [], cause);
  }
}
