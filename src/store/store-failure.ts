/** Maps the errors of every engine to a {@link StoreError}: one line that says what is wrong, then how to fix it. */
import { escapeUnprintable, isError, toShellWord, toSystemReason } from "../core/messages.ts";
import { hasTooManyFiles, StoreError, type StoreErrorReason, tooManyFiles } from "../core/store.ts";

export interface FailureKind {
  readonly reason: StoreErrorReason;
  /** Predicate of a sentence whose subject is "the store PLACE". */
  readonly problem: string;
  /** True if a retry of the same call may succeed within seconds. */
  readonly isTransient?: boolean;
  /** Returns {@link StoreError.command}. */
  readonly toCommand?: (store: string) => string;
}

/** The kinds of failures that the error codes of engines stand for. */
export const failures = {
  // The store cannot work now.
  unreachable: transient("cannot be reached: check its host and port, and that it is running"),
  starting: transient("is starting or stopping: try again"),
  contended: transient("was kept busy by other writers of the same plants: try again"),
  crowded: transient("has no connection left: stop other clients, or raise max_connections there"),
  notPrimary: failure("full", "is read-only: name the primary server, or make it writable"),
  notWritable: transient("accepts no writes on any of its hosts: check that one is the primary"),
  notConfirmed: transient("committed, but not on its standby: check its synchronous_standby_names"),
  timedOut: transient(
    "did not respond in time: check its load, its locks (pg_stat_activity) and its synchronous standby",
  ),
  unknownOutcome: failure("busy", "was lost during a commit, whose outcome is unknown: try again"),
  locked: failure("busy", "is locked by another process: try again, or stop that process"),
  slow: failure(
    "busy",
    "took too long: check its load, and in pg_stat_activity which session holds a lock",
  ),
  noMemory: failure("busy", "is out of memory: free some there"),
  inputOutput: failure("busy", "cannot read or write its disk: check the disk and the system log"),
  noRoom: failure("full", "is full: free some space on its disk"),
  notWritten: failure("full", "cannot be written: check space, quota and disk"),
  noFiles: transient(`cannot be opened, because ${tooManyFiles}`),
  readOnly: failure("readOnly", "is read-only: make the file and its directory writable"),
  closed: failure("closed", "is closed"),
  unknown: failure("failed", "failed"),

  // The store cannot work until its operator changes something.
  damaged: failure("damaged", "is damaged: restore an intact backup, or choose another path"),
  notOpened: unusable(
    "cannot be opened: check its permissions and those of its directory, or choose another path",
  ),
  wrongPassword: unusable(
    "does not accept the password: correct it in the URL, PGPASSWORD or ~/.pgpass, and restart",
  ),
  noPassword: unusable("asks for a password: set it in the URL, PGPASSWORD or ~/.pgpass"),
  notAdmitted: unusable(
    "does not admit this user from here: check the user, sslmode, and its pg_hba.conf",
  ),
  noDatabase: unusable("does not exist: create it with CREATE DATABASE, or choose another"),
  notGranted: unusable(
    "denies this user access: grant it CREATE on the schema, and access to its tables",
  ),
  foreignTables: unusable(
    "has a table of another program: choose another database, or another schema with ?options=-c%20search_path=NAME",
  ),
  noTables: unusable("has lost its tables: restore a backup, or choose another database"),
  noParameter: unusable(
    "rejects a parameter of the connection: leave it out of the URL. With pgbouncer, replace options=-c search_path=… by ALTER ROLE … SET search_path",
  ),
  noTls: unusable(
    "does not offer TLS: turn it on there, or set sslmode=disable on a network that you trust",
  ),
  notTrusted: unusable(
    "presents an untrusted certificate: name its authority's file with sslrootcert, or set sslmode=require to accept any",
  ),
  notFlushed: unusable(
    "runs with fsync=off and would lose plants at a power failure: set fsync=on",
  ),
} satisfies Record<string, FailureKind>;

function failure(reason: StoreErrorReason, problem: string): FailureKind {
  return { reason, problem };
}

function transient(problem: string): FailureKind {
  return { reason: "busy", problem, isTransient: true };
}

/** Describes a failure that lasts until the operator changes something. */
export function unusable(problem: string): FailureKind {
  return { reason: "unusable", problem };
}

/** As {@link unusable}, for a store that the start of a server completes. */
export function unstarted(problem: string, toUrl: (store: string) => string): FailureKind {
  const toCommand = (store: string) => `plantstore serve --store ${toShellWord(toUrl(store))}`;
  return { ...unusable(problem), toCommand };
}

/** Creates the map of an engine. Of the codes of an error, the first one with a kind decides. */
export function createFailureMap<Code>(
  kinds: ReadonlyMap<Code, FailureKind>,
  toCodes: (error: Error) => readonly Code[],
  otherKind: FailureKind = failures.unknown,
) {
  function toFailureKind(error: unknown): FailureKind {
    if (hasTooManyFiles(error)) return failures.noFiles;
    const codes = isError(error) ? toCodes(error) : [];
    return codes.map((code) => kinds.get(code)).find(Boolean) ?? otherKind;
  }

  return {
    toFailureKind,
    /** Maps an error to the store's; a StoreError stays the same. */
    toStoreError: (error: unknown, store: string): StoreError =>
      error instanceof StoreError ? error : createStoreError(toFailureKind(error), store, error),
  };
}

/** Creates the one-line error of a failure. A store is named by its path, or by its URL without the password. */
export function createStoreError(
  { reason, problem, toCommand }: FailureKind,
  store: string,
  cause?: unknown,
): StoreError {
  const detail = cause === undefined ? "" : ` (${toDetail(cause)})`;
  const message = escapeUnprintable(`the store ${store} ${problem}${detail}`);
  return new StoreError(reason, message, { cause, command: toCommand?.(store) });
}

function toDetail(cause: unknown): string {
  // A host with several addresses fails with an AggregateError without a message.
  return toSystemReason(cause) || toCode(cause) || (cause as Error).name;
}

/** Returns the code of an error: an SQLSTATE, or Node's code. @returns an empty string when it has none */
export function toCode(error: unknown): string {
  return isError(error) && "code" in error ? String(error.code) : "";
}
