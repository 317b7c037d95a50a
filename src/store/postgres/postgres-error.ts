/** Maps the errors of PostgreSQL and of the connection to it. */
import { createFailureMap, failures, type Meaning, toCode } from "../store-failure.ts";

/**
 * Codes by meaning: an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or its class, a code of
 * Node or of {@link createError}, or the beginning of a message. Errors of the driver have no code, those of PgBouncer only
 * a general one.
 */
const codes: readonly (readonly [Meaning, ...string[]])[] = [
  // 25P03: idle_in_transaction_session_timeout, after this process was suspended for a while.
  [failures.unreachable, "08", "25P03", "57P05"],
  [failures.unreachable, "EAI_AGAIN", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH"],
  [failures.unreachable, "ENETUNREACH", "ENOENT", "ENOTFOUND", "EPIPE", "ETIMEDOUT"],
  [failures.unreachable, "Connection terminated", "Client has encountered", "Query read timeout"],
  [failures.unreachable, "timeout exceeded when trying to connect"],
  // Another transaction replaced the pool between two steps. The next attempt uses the new one.
  [failures.unreachable, "Cannot use a pool after calling end"],
  [failures.starting, "57P01", "57P02", "57P03"],
  [failures.contended, "40"],
  [failures.crowded, "53300"],
  [failures.notWritable, "NOT_WRITABLE"],
  [failures.notConfirmed, "NOT_CONFIRMED"],
  [failures.unknownOutcome, "OUTCOME_UNKNOWN"],
  [failures.timedOut, "TIMEOUT"],
  [failures.slow, "55P03", "57014"],
  [failures.noMemory, "53200"],
  [failures.inputOutput, "58030"],
  [failures.noRoom, "53100"],
  [failures.notPrimary, "25006"],
  [failures.wrongPassword, "28P01"],
  [failures.noPassword, "password must be a"],
  [failures.notAdmitted, "28"],
  [failures.noDatabase, "3D000"],
  [failures.notGranted, "42501"],
  [failures.noTables, "42P01"],
  [failures.noParameter, "unsupported startup parameter"],
  [failures.noTls, "does not support SSL"],
  [failures.notTrusted, "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  [failures.notTrusted, "ERR_TLS_CERT_ALTNAME_INVALID", "SELF_SIGNED_CERT_IN_CHAIN"],
  [failures.notTrusted, "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  [failures.notTrusted, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
];

const meanings = new Map(codes.flatMap(([meaning, ...own]) => own.map((code) => [code, meaning])));
const knownMessage = new RegExp([...meanings.keys()].filter((key) => key.includes(" ")).join("|"));

const { toMeaning, toStoreError } = createFailureMap(meanings, (error) => {
  const code = toCode(error);
  const [phrase = ""] = knownMessage.exec(error.message) ?? [];
  return [code, phrase, code.slice(0, 2)];
});

export { toStoreError };

/** Checks whether a retry of the same call may succeed within seconds. */
export function isTransient(error: unknown): boolean {
  return toMeaning(error).isTransient ?? false;
}

/**
 * Checks whether the server rolled the transaction back because of a conflict with another one and expects a retry.
 * 40003 is not included: it says that the outcome is unknown.
 */
export function isRolledBack(error: unknown): boolean {
  const code = toCode(error);
  return code === "40001" || code === "40P01";
}

/** Checks whether the server did not respond to a statement in time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Creates an error with a code of this program. */
export function createError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
