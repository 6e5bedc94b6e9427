/** What `publish` needs of a place that holds objects: list, read, put, remove, and a lock. Each target is one file and one line in index.ts. */

/** An object to be put, with the headers that it is to be served with. */
export interface PublishObject {
  /** Name at the target, relative, forward slashes. */
  readonly path: string;
  /** Absolute path of the file it is made of. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mediaType: string;
  readonly cacheControl: string;
  /** Set where the compressed form is stored under the plain name. */
  readonly contentEncoding: "gzip" | null;
}

export interface Target {
  /** For people: the folder, or s3://bucket/prefix. */
  readonly title: string;
  /** Every object by path, with a mark that changes when it is written again. */
  list(): Promise<ReadonlyMap<string, string>>;
  /** Content of a small object; null where there is none. */
  read(path: string): Promise<Buffer | null>;
  /** Puts an object whole or not at all, after checking the file against its SHA-256; gives its mark. */
  put(object: PublishObject): Promise<string>;
  /** Puts a few bytes that are not part of the release. */
  note(path: string, bytes: Buffer): Promise<void>;
  /** Removes an object; none there is no fault. */
  remove(path: string): Promise<void>;
  /** Keeps other publishes out. Throws UserError `busy` while one is at work. */
  lock(): Promise<Lock>;
  /** Takes away what killed runs left half written, where `isOurs` says so of its path. To be called under the lock. */
  tidy(isOurs: (path: string) => boolean): Promise<void>;
}

export interface Lock {
  /** Throws UserError `busy` where somebody else has taken it over. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Name of the lock at every target; it is nobody's object. */
export const LOCK = ".shelters-publish.lock";
