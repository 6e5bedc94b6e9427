/** A bucket as a target: S3, or any store that speaks its protocol. An object appears whole, with its headers, or not at all. */

import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { checkedPieces } from "./checked.js";
import { type LockObject, type LockTimes, lockObject } from "./lockobject.js";
import { explained, isRefusal } from "./s3errors.js";
import { LOCK, type PublishObject, type Target } from "./target.js";

export interface S3Options {
  readonly bucket: string;
  /** Without a slash at either end; empty for none. */
  readonly prefix: string;
  readonly region: string;
  /** Address of a store that is not Amazon's. */
  readonly endpoint?: string | undefined;
  /** Larger objects go up in parts of this many bytes; S3 takes no less than 5 MiB. */
  readonly partBytes?: number;
  readonly lockTimes?: LockTimes;
  /** Milliseconds without a byte after which a request is tried again. */
  readonly idle?: number;
}

const limits = {
  part: 8 * 1024 * 1024, // bytes
  attempts: 5, // of each request, with growing pauses
  connect: 10_000, // ms
  idle: 60_000, // ms
  lock: { renewal: 5_000, patience: 20_000 }, // ms
} as const;

/** Opens a bucket; credentials come from the environment, as every tool of this store takes them. */
export function openS3(options: S3Options): Target {
  const { bucket, prefix, region, endpoint, partBytes = limits.part } = options;
  // The notice of the SDK is for programmers; package.json decides which Node we run on.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    maxAttempts: limits.attempts,
    // Not the whole time of a request: a large part takes an hour on a thin line.
    requestHandler: { connectionTimeout: limits.connect, socketTimeout: options.idle ?? limits.idle },
    // The SDK's own checksums are trailers that other stores refuse; Content-MD5 is understood by all of them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const title = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
  const at = (path: string) => ({ Bucket: bucket, Key: prefix === "" ? path : `${prefix}/${path}` });
  return {
    title,
    list: () => explained(title, () => listBucket(client, bucket, prefix)),
    read: async (path) => (await explained(title, () => readObject(client, at(path))))?.body ?? null,
    put: (object) =>
      explained(title, () =>
        object.bytes > partBytes
          ? putInParts(client, at(object.path), object, partBytes)
          : putWhole(client, at(object.path), object),
      ),
    note: async (path, bytes) => {
      await explained(title, () => client.send(noteCommand(at(path), bytes)));
    },
    remove: async (path) => {
      await explained(title, () => client.send(new DeleteObjectCommand(at(path))));
    },
    lock: () => lockObject(lockOf(client, at(LOCK), title), title, options.lockTimes ?? limits.lock),
    tidy: (isOurs) => explained(title, () => abortUploads(client, bucket, prefix, isOurs)),
  };
}

/** A few bytes that no cache may keep. */
function noteCommand(place: Place, bytes: Buffer, condition: Condition = {}): PutObjectCommand {
  const headers = { ContentType: "application/json", CacheControl: "no-store", ContentMD5: md5(bytes) };
  return new PutObjectCommand({ ...place, ...headers, ...condition, Body: bytes });
}

type Condition = { readonly IfMatch?: string; readonly IfNoneMatch?: "*" };

const FAILED_CONDITION = /^(PreconditionFailed|ConditionalRequestConflict|NoSuchKey)$/;
const NOT_OFFERED = /^(NotImplemented|InvalidArgument|InvalidRequest|MethodNotAllowed)$/;

/** The lock object. Where the store knows no conditional writes, it is written without. */
function lockOf(client: S3Client, place: Place, title: string): LockObject {
  const write = async (bytes: Buffer, condition: Condition): Promise<string | null> => {
    try {
      return (await client.send(noteCommand(place, bytes, condition))).ETag ?? "";
    } catch (error) {
      if (isRefusal(error, FAILED_CONDITION)) return null;
      if ("IfMatch" in condition || "IfNoneMatch" in condition)
        if (isRefusal(error, NOT_OFFERED)) return write(bytes, {});
      throw error;
    }
  };
  return {
    read: async () => {
      const found = await explained(title, () => readObject(client, place));
      return found === null ? null : { text: found.body.toString("utf8"), mark: found.mark };
    },
    write: (text, read) => {
      const condition: Condition = read === null ? { IfNoneMatch: "*" } : { IfMatch: read.mark };
      return explained(title, () => write(Buffer.from(text), condition));
    },
    remove: async () => {
      await explained(title, () => client.send(new DeleteObjectCommand(place)));
    },
  };
}

/** Parts that nobody completes cost their owner money, and no listing of objects shows them. Who may not list them has none. */
async function abortUploads(
  client: S3Client,
  bucket: string,
  prefix: string,
  isOurs: (path: string) => boolean,
): Promise<void> {
  const folder = prefix === "" ? "" : `${prefix}/`;
  let from: Pick<ListMultipartUploadsCommandInput, "KeyMarker" | "UploadIdMarker"> | null = {};
  while (from !== null) {
    const list: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: folder,
      ...from,
    });
    const page: ListMultipartUploadsCommandOutput | null = await client.send(list).catch((error: unknown) => {
      if (isRefusal(error, NOT_OFFERED) || isRefusal(error, /^AccessDenied$/)) return null;
      throw error;
    });
    for (const { Key = "", UploadId } of page?.Uploads ?? [])
      if (isOurs(Key.slice(folder.length)))
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    from = page?.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : null;
  }
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

interface Read {
  readonly body: Buffer;
  readonly mark: string;
}

async function readObject(client: S3Client, place: Place): Promise<Read | null> {
  try {
    const { Body, ETag = "" } = await client.send(new GetObjectCommand(place));
    return Body === undefined ? null : { body: Buffer.from(await Body.transformToByteArray()), mark: ETag };
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
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("base64");
}
