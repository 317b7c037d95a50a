/** What a failure of PostgreSQL, or of the way to it, means for the store. */
import { escapeUnprintable } from "../../core/quote.ts";
import { StoreError, type StoreErrorReason } from "../../core/store.ts";

/** A kind of failure. */
export interface Meaning {
  readonly reason: StoreErrorReason;
  /** What is wrong and what to do; goes on from "the store PLACE". */
  readonly complaint: string;
  /** Whether the same call may well succeed in a moment. */
  readonly passes?: boolean;
}

const unreachable: Meaning = {
  reason: "busy",
  complaint: "can't be reached: check its host and port, and that it runs",
  passes: true,
};
const starting: Meaning = {
  reason: "busy",
  complaint: "is starting or stopping: try again",
  passes: true,
};
const contended: Meaning = {
  reason: "busy",
  complaint: "was kept busy by others with the same plants: try again",
  passes: true,
};
const crowded: Meaning = {
  reason: "busy",
  complaint: "has no connection left: stop other clients, or raise max_connections there",
  passes: true,
};
const locked: Meaning = {
  reason: "busy",
  complaint:
    "did not answer in time: see in its pg_stat_activity who holds a lock, or what else it does",
};
const noMemory: Meaning = { reason: "busy", complaint: "is out of memory: free some there" };
const noRoom: Meaning = { reason: "full", complaint: "has no room: make room on its disk" };
const readOnly: Meaning = {
  reason: "full",
  complaint: "is read-only: name the primary server, or make it writable",
};
const wrongPassword: Meaning = {
  reason: "unusable",
  complaint: "does not accept the password: correct it in the URL or in PGPASSWORD",
};
const noPassword: Meaning = {
  reason: "unusable",
  complaint: "asks for a password: set it in the URL or in PGPASSWORD",
};
const notAdmitted: Meaning = {
  reason: "unusable",
  complaint: "does not admit this user from here: check the user, sslmode, and its pg_hba.conf",
};
const noDatabase: Meaning = {
  reason: "unusable",
  complaint: "does not exist: create it with CREATE DATABASE, or name another",
};
const notGranted: Meaning = {
  reason: "unusable",
  complaint: "does not let this user work: grant it CREATE on the schema, and its tables to it",
};
const noTables: Meaning = {
  reason: "unusable",
  complaint: "has lost its tables: restore a backup, or choose another database",
};
const noTls: Meaning = {
  reason: "unusable",
  complaint:
    "does not offer TLS: turn it on there, or on a network that you trust set sslmode=disable",
};
const notTrusted: Meaning = {
  reason: "unusable",
  complaint:
    "shows a certificate that can't be trusted: name its authority's file with sslrootcert, or set sslmode=require to take any",
};
const closed: Meaning = { reason: "closed", complaint: "is closed" };
const unknown: Meaning = { reason: "failed", complaint: "failed" };

/** By Node's code, or by SQLSTATE: all five characters, or else the class, which is the first two. */
const meanings: ReadonlyMap<string, Meaning> = new Map([
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  ["08", unreachable],
  ["25006", readOnly],
  ["25P03", unreachable], // idle_in_transaction_session_timeout: this process was stopped for a while
  ["28", notAdmitted],
  ["28P01", wrongPassword],
  ["3D000", noDatabase],
  ["40", contended],
  ["42501", notGranted],
  ["42P01", noTables],
  ["53100", noRoom],
  ["53200", noMemory],
  ["53300", crowded],
  ["55P03", locked],
  ["57014", locked],
  ["57P01", starting],
  ["57P02", starting],
  ["57P03", starting],
  ["57P05", unreachable],
  ["EAI_AGAIN", unreachable],
  ["ECONNABORTED", unreachable],
  ["ECONNREFUSED", unreachable],
  ["ECONNRESET", unreachable],
  ["EHOSTUNREACH", unreachable],
  ["ENETUNREACH", unreachable],
  ["ENOENT", unreachable], // no such Unix socket
  ["ENOTFOUND", unreachable],
  ["EPIPE", unreachable],
  ["ETIMEDOUT", unreachable],
  ["CERT_HAS_EXPIRED", notTrusted],
  ["CERT_NOT_YET_VALID", notTrusted],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", notTrusted],
  ["ERR_TLS_CERT_ALTNAME_INVALID", notTrusted],
  ["SELF_SIGNED_CERT_IN_CHAIN", notTrusted],
  ["UNABLE_TO_GET_ISSUER_CERT", notTrusted],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", notTrusted],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", notTrusted],
]);

/** What the driver itself complains of has no code. */
const driverMeanings: readonly [RegExp, Meaning][] = [
  [/^(?:Connection terminated|Client has encountered|Query read timeout)/, unreachable],
  [/^timeout exceeded when trying to connect/, unreachable],
  [/password must be a/, noPassword],
  [/does not support SSL/, noTls],
  [/^Cannot use a pool after calling end/, closed],
];

/** Whether the same call may well succeed in a moment. */
export function isPassing(error: unknown): boolean {
  return toMeaning(error).passes ?? false;
}

/**
 * Whether the server has undone the transaction and wants it repeated: it conflicted with another one. 40003 is not
 * among them; by it some distributed databases say that they don't know.
 */
export function isRolledBack(error: unknown): boolean {
  const code = toCode(error);
  return code === "40001" || code === "40P01";
}

/** The SQLSTATE or Node's code of a failure; empty when it has none. */
export function toCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** A failure as the store's; a StoreError stays what it is. */
export function toStoreError(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
  return createStoreError(toMeaning(error), place, error);
}

/** The one line for a failure, or for a refusal that has no cause but itself. */
export function createStoreError(
  { reason, complaint }: Meaning,
  place: string,
  cause?: unknown,
): StoreError {
  const sentence = `the store ${place} ${complaint}`;
  if (cause === undefined) return new StoreError(reason, escapeUnprintable(sentence));
  // A host with several addresses fails with an error that has no message.
  const detail = cause instanceof Error ? cause.message || toCode(cause) : "no reason given";
  return new StoreError(reason, escapeUnprintable(`${sentence} (${detail})`), { cause });
}

function toMeaning(error: unknown): Meaning {
  const code = toCode(error);
  const known = meanings.get(code) ?? meanings.get(code.slice(0, 2));
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : "";
  return driverMeanings.find(([pattern]) => pattern.test(message))?.[1] ?? unknown;
}
