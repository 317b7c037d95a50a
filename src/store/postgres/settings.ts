/** The time limits and the settings of each transaction. */
import pg from "pg";
import { createStoreError, failures, unusable } from "../store-failure.ts";

/** Time limits, each in milliseconds. */
export interface Limits {
  /** For a connection to one host; `connect_timeout` in the URL overrides it. */
  readonly connectMs: number;
  /** For a statement and the locks that it waits for, measured by PostgreSQL. */
  readonly statementMs: number;
  /** For a response, measured here; longer than a statement, so that a missing response means a lost connection. */
  readonly responseMs: number;
  /** For the next statement of a transaction, before PostgreSQL rolls it back and releases its locks. */
  readonly idleInTransactionMs: number;
  /** For a call of the engine with all of its attempts. */
  readonly callMs: number;
  /** For a call after one that failed, and for a check. */
  readonly shortCallMs: number;
}

/** Limits of a server. A create that waits for two failing commits fails within 10 s, the default timeout of clients. */
export const defaultLimits: Limits = {
  connectMs: 3000,
  statementMs: 3000,
  responseMs: 4000,
  idleInTransactionMs: 5000,
  callMs: 6000,
  shortCallMs: 1500,
};

/** Limits of statements that read the whole store: a search for a rare tag, or an upgrade that builds an index. */
export const longLimits: Limits = {
  ...defaultLimits,
  statementMs: 600_000,
  responseMs: 603_000,
  callMs: 610_000,
};

/** Time for one read of the feed with all of its attempts: a follower survives a failover, and does not hang silently. */
export const feedCallMs = 30_000;

/** Settings of the server that a transaction depends on. */
export interface Settings {
  /** Id of the process that serves the connection. */
  readonly backend: number;
  readonly encoding: string;
  readonly fsync: string;
}

/**
 * Returns statements that begin a transaction and set its limits: behind a pooler, the settings of a session are lost or leak
 * to other clients. The limit of statements comes first, because the role may have one that is too short for the others.
 *
 * @param begin the first statement
 * @param path the only schema in which all statements find tables; by default those of the session
 */
export function beginWith(
  begin: string,
  { statementMs, idleInTransactionMs }: Limits,
  path?: string,
): string {
  // PostgreSQL searches temporary tables first if they are not named.
  const setPath = path && `; SET LOCAL search_path = ${pg.escapeIdentifier(path)}, pg_temp`;
  return `${begin}; SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}${setPath ?? ""}`;
}

/**
 * Returns {@link Settings}, and makes a commit wait for the flush, here and on the synchronous standby: only `remote_apply`
 * is as good as `on`.
 */
export const useSettings = `SELECT pg_backend_pid() AS backend,
  current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
  set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`;

/** Returns the only row in the results of several statements at once, which have one result each. */
export function toRow(results: unknown): unknown {
  const all = results as readonly { readonly rows: readonly unknown[] }[];
  return all.flatMap(({ rows }) => rows)[0];
}

/**
 * Asserts that PostgreSQL flushes commits.
 *
 * @param fsync the setting
 * @throws StoreError `unusable`
 */
export function assertFlushing(fsync: string | undefined, place: string): void {
  if (fsync === "off") throw createStoreError(failures.notFlushed, place);
}

/** Asserts that PostgreSQL can store every character. */
export function assertEncoding(encoding: string, place: string): void {
  if (encoding === "UTF8") return;
  const problem = `has the encoding ${encoding}, which lacks most characters: create a database with ENCODING 'UTF8'`;
  throw createStoreError(unusable(problem), place);
}
