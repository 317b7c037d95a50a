/** Connections to a database: their pool, settings, TLS, and errors. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import pg, { type ClientBase } from "pg";
import readPasswordFile from "pgpass";
import { escapeUnprintable, isError, toSystemReason } from "../../core/messages.ts";
import { StoreError } from "../../core/store.ts";
import {
  createFailureMap,
  createStoreError,
  failures,
  type FailureKind,
  toCode,
  unusable,
} from "../store-failure.ts";
import { readRegularFile } from "../regular-file.ts";
import { type Host, type PostgresLocation, toShownUrl } from "./postgres-url.ts";

/** A database, on whichever of its hosts is the right one at the time. */
export type Database = ReturnType<typeof createDatabase>;

export type DatabaseWork<T> = (client: ClientBase) => Promise<T>;
/** One connection for commits, which do not overlap, and a few for checks and reads. */
const maxConnections = 4;
/** Shorter than the time after which firewalls silently drop idle connections. */
const idleTimeoutMs = 30_000;
const keepAliveDelayMs = 10_000;

/**
 * Creates a database without connecting to it. A connection that fails is not used again, and the next transaction looks
 * for the first suitable host again.
 *
 * @throws StoreError `unusable` when a file for TLS cannot be used
 */
export function createDatabase(location: PostgresLocation, limits: Limits, isWriter: boolean) {
  const shownUrl = toShownUrl(location);
  const tls = loadTls(location);
  const { hosts, connectTimeoutMs = limits.connectMs } = location;
  // A standby may be behind. Whoever names one alone wants to read there.
  const needed = isWriter ? "read-write" : "primary";
  const session = location.session ?? (hosts.length > 1 ? needed : "any");
  let path: string | undefined;
  let current: Promise<pg.Pool> | undefined;
  let closed: Promise<void> | undefined;

  /** Runs a statement with the limits of time, whatever those of the role are. @returns its first row */
  async function query(pool: pg.Pool, statement: string): Promise<unknown> {
    const results = await pool.query(`${beginWith(begin, limits)}; ${statement}; COMMIT`);
    return toRow(results);
  }

  function createPool(host: Host): pg.Pool {
    const { database, applicationName } = location;
    // The driver adds PGUSER and PGPASSWORD. It reads a password file too, but warns that it will not always do so.
    const { user, password } = new pg.Client({ user: location.user, password: location.password });
    const pool = new pg.Pool({
      ...host,
      database,
      user,
      password: password ?? (() => findPassword({ ...host, database, user })),
      options: location.options,
      ssl: tls,
      application_name: applicationName,
      pipeline: true,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: limits.responseMs,
      idleTimeoutMillis: idleTimeoutMs,
      // A server that does not respond to the end of a connection must not delay the end of the process.
      allowExitOnIdle: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelayMs,
    });
    // The statement that fails on a lost connection reports the failure. Without a listener it would end the process.
    pool.on("error", ignoreError);
    pool.on("connect", (client) => void client.on("error", ignoreError));
    return pool;
  }

  async function findPool(): Promise<pg.Pool> {
    const errors: unknown[] = [];
    for (const host of hosts) {
      const pool = createPool(host);
      try {
        const offered = (await query(pool, offeredSessions)) as Record<typeof session, boolean>;
        if (offered[session]) return pool;
        throw createError("NOT_WRITABLE", `${host.host}:${host.port} is read-only or a standby`);
      } catch (error) {
        errors.push(error);
        void pool.end();
      }
    }
    // An error that a retry cannot fix is more useful than the failure of another host.
    throw errors.find((error) => !isTransient(error)) ?? errors.at(-1);
  }

  function getPool(): Promise<pg.Pool> {
    if (closed !== undefined) return Promise.reject(createStoreError(failures.closed, shownUrl));
    current ??= findPool().catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  }

  /** Stops using a pool, and ends the backend that did not respond: no timeout ends a commit that waits for a standby. */
  async function discard(pool: pg.Pool, backend: number | undefined): Promise<void> {
    if (backend !== undefined) await query(pool, terminate(backend)).catch(ignoreError);
    await pool.end().catch(ignoreError);
  }

  async function transact<T>(beginning: string, end: string, work: DatabaseWork<T>): Promise<T> {
    const found = getPool();
    const pool = await found;
    let client: pg.PoolClient | undefined;
    let backend: number | undefined;
    try {
      client = await pool.connect();
      // The first statement of the work is sent together with BEGIN.
      const began = client
        .query(`${beginWith(beginning, limits, path)}; ${useSettings}`)
        .then((results) => {
          const settings = toRow(results) as SessionSettings;
          ({ backend } = settings);
          assertSettings(settings, isWriter, shownUrl);
        });
      const [result] = await Promise.all([work(client), began]);
      await endTransaction(client, end);
      client.release();
      return result;
    } catch (error) {
      client?.release(true);
      if (isRolledBack(error)) throw error;
      if (current === found) current = undefined;
      const isTimeout = isError(error) && error.message === "Query read timeout";
      void discard(pool, isTimeout ? backend : undefined);
      if (hosts.length === 1 || toCode(error) !== "25006") throw error;
      throw createError("NOT_WRITABLE", "the host became read-only");
    }
  }

  return {
    /** For messages; without the password. */
    shownUrl,
    /** Makes every later transaction use the tables of one schema, whatever schemas the path of the session gets. */
    useSchema: (name: string): void => void (path = name),
    read: <T>(work: DatabaseWork<T>): Promise<T> => transact(`${begin}, READ ONLY`, "COMMIT", work),
    /**
     * Runs `work` in a transaction. Once it resolves, everything that `work` wrote or saw is flushed, and confirmed by the
     * synchronous standby if there is one.
     */
    write: <T>(work: DatabaseWork<T>): Promise<T> => transact(begin, `${logMessage}; COMMIT`, work),
    /** Ends the connections that are not in use. May be called twice. */
    close: (): Promise<void> =>
      (closed ??= (async () => {
        const pool = await current?.catch(ignoreError);
        await pool?.end().catch(ignoreError);
      })()),
  };
}

/** The default of the role may be stricter, and its conflicts need a retry. */
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

/** The values of `target_session_attrs` that a host satisfies. */
const offeredSessions = `SELECT true AS "any", NOT pg_is_in_recovery() AS "primary",
  NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS "read-write"`;

/**
 * Gives every transaction something to flush. Without it, the commit of a transaction that only found plants would wait
 * neither for the flush of a commit with `synchronous_commit=off` nor for the standby.
 */
const logMessage = "SELECT pg_logical_emit_message(true, 'plantstore', '')";

/** Limited to this program's own sessions, in case the process id was reused. */
const terminate = (
  backend: number,
): string => `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ${backend} AND usename = current_user AND application_name = current_setting('application_name')`;

/** SQLSTATE of messages that are less than a warning. Their severity is in the language of the server. */
const successful = "00000";

/** A warning means that PostgreSQL committed without the confirmation of the standby. */
async function endTransaction(client: ClientBase, text: string): Promise<void> {
  const warnings: string[] = [];
  const onNotice = (notice: { code: string | undefined; message: string | undefined }) => {
    if (notice.code !== successful) warnings.push(notice.message ?? "");
  };
  client.on("notice", onNotice);
  try {
    await client.query(text);
  } finally {
    client.off("notice", onNotice);
  }
  if (warnings.length > 0) throw createError("NOT_CONFIRMED", warnings.join("; "));
}

/** Returns the password in the user's password file, or an empty string, which the driver rejects. */
function findPassword(
  connection: Host & { readonly database: string; readonly user: string | undefined },
): Promise<string> {
  return new Promise((resolve) => {
    readPasswordFile(connection, (password) => resolve(password ?? ""));
  });
}

function ignoreError(): undefined {
  return undefined;
}

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

/** Limits of statements that read the whole store, such as a search for a rare tag. */
export const longLimits: Limits = {
  ...defaultLimits,
  statementMs: 600_000,
  responseMs: 603_000,
  callMs: 610_000,
};

/** Settings of the server that a transaction depends on. */
interface SessionSettings {
  /** Id of the process that serves the connection. */
  readonly backend: number;
  readonly encoding: string;
  readonly fsync: string;
}

/**
 * Returns statements that begin a transaction and set what it relies on: behind a pooler, the settings of a session are lost
 * or leak to other clients. The limit of statements comes first, because the role may have one that is too short for the
 * others. With `array_nulls=off`, a tag that is absent would be stored as "NULL", and a role that hides warnings would hide
 * that the standby did not confirm a commit.
 *
 * @param path the only schema in which all statements find tables; by default those of the session
 */
function beginWith(
  beginning: string,
  { statementMs, idleInTransactionMs }: Limits,
  path?: string,
): string {
  // PostgreSQL searches temporary tables first if they are not named.
  const setPath = path && `; SET LOCAL search_path = ${pg.escapeIdentifier(path)}, pg_temp`;
  return `${beginning}; SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs};
    SET LOCAL client_min_messages = warning; SET LOCAL array_nulls = on${setPath ?? ""}`;
}

/**
 * Returns {@link SessionSettings}, and makes a commit wait for the flush, here and on the synchronous standby: only
 * `remote_apply` is as good as `on`.
 */
const useSettings = `SELECT pg_backend_pid() AS backend,
  current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
  set_config('synchronous_commit', CASE current_setting('synchronous_commit')
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)`;

/** Returns the only row in the results of several statements at once, which have one result each. */
function toRow(results: unknown): unknown {
  const all = results as readonly { readonly rows: readonly unknown[] }[];
  return all.flatMap(({ rows }) => rows)[0];
}

/** Asserts that PostgreSQL can store every character, and flushes what a writer commits. @throws StoreError `unusable` */
function assertSettings(
  { encoding, fsync }: SessionSettings,
  isWriter: boolean,
  shownUrl: string,
): void {
  if (isWriter && fsync === "off") throw createStoreError(failures.notFlushed, shownUrl);
  if (encoding === "UTF8") return;
  const problem = `has the encoding ${encoding}, which lacks most characters: create a database with ENCODING 'UTF8'`;
  throw createStoreError(unusable(problem), shownUrl);
}

/**
 * Returns TLS options with the meaning that libpq gives to `sslmode`
 * (https://www.postgresql.org/docs/current/libpq-ssl.html); the driver's own meaning differs. False: no TLS.
 *
 * @throws StoreError `unusable` when a file cannot be used
 */
function loadTls({
  tls,
  tlsFiles: { root, certificate, key },
}: PostgresLocation): ConnectionOptions | false {
  if (tls === "disable") return false;
  // Parsing throws when a file has no certificate or key in it. TLS itself would only fail to connect.
  const options = {
    ca: readPem("sslrootcert", root, (pem) => new X509Certificate(pem)),
    cert: readPem("sslcert", certificate, (pem) => new X509Certificate(pem)),
    key: readPem("sslkey", key, createPrivateKey),
  };
  switch (tls) {
    case "require":
      return { ...options, rejectUnauthorized: false };
    case "verify-ca":
      return { ...options, checkServerIdentity: () => undefined };
    case "verify-full":
      return options;
  }
}

function readPem(
  parameter: string,
  path: string | undefined,
  parse: (pem: string) => unknown,
): string | undefined {
  if (path === undefined) return undefined;
  try {
    const pem = readRegularFile(path);
    parse(pem);
    return pem;
  } catch (cause) {
    throw new StoreError(
      "unusable",
      escapeUnprintable(
        `${path}, which ${parameter} in the store's URL names, cannot be used: name a PEM file (${toSystemReason(cause)})`,
      ),
      { cause },
    );
  }
}

/**
 * Codes by kind: an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or its class, a code of
 * Node or of {@link createError}, or the beginning of a message. Errors of the driver have no code, those of PgBouncer only
 * a general one.
 */
const codes: readonly (readonly [FailureKind, ...string[]])[] = [
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
  [failures.foreignTables, "42P07"],
  [failures.noTables, "42P01"],
  [failures.noParameter, "unsupported startup parameter"],
  [failures.noTls, "does not support SSL"],
  [failures.notTrusted, "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  [failures.notTrusted, "ERR_TLS_CERT_ALTNAME_INVALID", "SELF_SIGNED_CERT_IN_CHAIN"],
  [failures.notTrusted, "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  [failures.notTrusted, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
];

const kindsByState = new Map(codes.flatMap(([kind, ...own]) => own.map((code) => [code, kind])));
const knownMessage = new RegExp(
  [...kindsByState.keys()].filter((key) => key.includes(" ")).join("|"),
);

const { toFailureKind, toStoreError } = createFailureMap(kindsByState, (error) => {
  const code = toCode(error);
  const [phrase = ""] = knownMessage.exec(error.message) ?? [];
  return [code, phrase, code.slice(0, 2)];
});

export { toStoreError };

export function isTransient(error: unknown): boolean {
  return toFailureKind(error).isTransient ?? false;
}

/**
 * Checks whether the server rolled the transaction back because of a conflict with another one and expects a retry.
 * 40003 is not included: it says that the outcome is unknown.
 */
export function isRolledBack(error: unknown): boolean {
  const code = toCode(error);
  return code === "40001" || code === "40P01";
}

export function createError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
