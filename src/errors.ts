/** One class for what a caller can mend; its code says the exit code and the HTTP status. */

export const errorCodes = {
  usage: { exit: 2, status: 400, meaning: "a wrong option, argument or parameter" },
  source: { exit: 3, status: 500, meaning: "the source cannot be read, or is not what it should be" },
  refused: {
    exit: 4,
    status: 500,
    meaning: "what came must not replace what is there: too bad, too much lost, older, or not signed",
  },
  damaged: {
    exit: 5,
    status: 500,
    meaning: "a database or release is missing, damaged or of another version",
  },
  busy: {
    exit: 6,
    status: 500,
    meaning: "another pull, build, mirror or publish is at work, or the port is taken",
  },
  system: {
    exit: 7,
    status: 500,
    meaning: "the machine says no: disk full, no permission, too few file descriptors",
  },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Exit code of a fault that is a bug of the program, not of its caller. */
export const EXIT_BUG = 1;

/** What the caller can mend. The message says what came, what is accepted and what to do. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly code: ErrorCode;
  readonly details: readonly string[];

  constructor(code: ErrorCode, message: string, details: readonly string[] = [], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

const SYSTEM_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "no permission",
  EPERM: "no permission",
  EROFS: "the folder is read-only",
  EMFILE: "too many open files (see `ulimit -n`)",
  ENFILE: "too many open files on this machine",
  SQLITE_FULL: "the disk is full",
  SQLITE_READONLY: "the database or its folder is read-only",
  SQLITE_READONLY_DIRECTORY: "the database's folder is read-only",
  SQLITE_IOERR: "reading or writing the database failed",
};

/** The code that the system or SQLite put on an error, or null: `ENOSPC`, `SQLITE_BUSY`. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** Turns an error of the operating system or of SQLite into a UserError; anything else is returned as it is. */
export function explain(error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof UserError || code === null || !(error instanceof Error)) return error;
  const hint =
    SYSTEM_HINTS[code] ?? (code.startsWith("SQLITE_IOERR") ? SYSTEM_HINTS["SQLITE_IOERR"] : undefined);
  if (hint === undefined) return error;
  const path = "path" in error && typeof error.path === "string" ? ` (${error.path})` : "";
  return new UserError("system", `${hint}${path}: nothing was changed.`, [], { cause: error });
}
