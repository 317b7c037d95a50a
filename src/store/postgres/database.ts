/** The database of a store: the connections to it, and the transactions on them. */
import type { ConnectionOptions } from "node:tls";
import pg, { type ClientBase } from "pg";
import readPasswordFile from "pgpass";
import { createStoreError, failures, toCode } from "../store-failure.ts";
import { createError, isRolledBack, isTimeout, isTransient } from "./postgres-error.ts";
import { type Host, type PostgresLocation, toPlace } from "./postgres-url.ts";
import {
  assertEncoding,
  assertFlushing,
  beginWith,
  type Limits,
  type Settings,
  toRow,
  useSettings,
} from "./settings.ts";

/** A database, on whichever of its hosts is the right one at the time. */
export type Database = ReturnType<typeof createDatabase>;

/** Work on the connection of a transaction. */
export type Work<T> = (client: ClientBase) => Promise<T>;
/** One connection for commits, which do not overlap, and a few for checks and reads. */
const maxConnections = 4;
/** Shorter than the time after which firewalls silently drop idle connections. */
const idleTimeoutMs = 30_000;
const keepAliveDelayMs = 10_000;

/**
 * Creates a database without connecting to it. A connection that fails is not used again, and the next transaction looks
 * for the first suitable host again.
 */
export function createDatabase(
  location: PostgresLocation,
  tls: ConnectionOptions | false,
  limits: Limits,
  isWriter: boolean,
) {
  const place = toPlace(location);
  const { hosts, connectTimeoutMs = limits.connectMs } = location;
  const session = location.session ?? (isWriter && hosts.length > 1 ? "read-write" : "any");
  let path: string | undefined;
  let current: Promise<pg.Pool> | undefined;
  let closed: Promise<void> | undefined;

  /** Returns a statement in a transaction of its own. */
  function inTransaction(statement: string): string {
    return `${beginWith("BEGIN", limits)}; ${statement}; COMMIT`;
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
    pool.on("error", ignore);
    pool.on("connect", (client) => void client.on("error", ignore));
    return pool;
  }

  /** Returns the pool of the first suitable host. */
  async function findPool(): Promise<pg.Pool> {
    const errors: unknown[] = [];
    for (const host of hosts) {
      const pool = createPool(host);
      try {
        const results = await pool.query(inTransaction(offeredSessions));
        const offered = toRow(results) as Readonly<Record<typeof session, boolean>>;
        if (offered[session]) return pool;
        throw createError("NOT_WRITABLE", `${host.host}:${host.port} is read-only`);
      } catch (error) {
        errors.push(error);
        void pool.end();
      }
    }
    // An error that a retry cannot fix is more useful than the failure of another host.
    throw errors.find((error) => !isTransient(error)) ?? errors.at(-1);
  }

  function getPool(): Promise<pg.Pool> {
    if (closed !== undefined) return Promise.reject(createStoreError(failures.closed, place));
    current ??= findPool().catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  }

  /** Stops using a pool, and ends what a backend that did not respond still does: it may hold locks. */
  async function leave(pool: pg.Pool, backend: number | undefined): Promise<void> {
    if (backend !== undefined) {
      await pool.query(inTransaction(terminate(backend))).catch(ignore);
    }
    await pool.end().catch(ignore);
  }

  async function transact<T>(begin: string, end: string, work: Work<T>): Promise<T> {
    const found = getPool();
    const pool = await found;
    let client: pg.PoolClient | undefined;
    let backend: number | undefined;
    try {
      client = await pool.connect();
      // The first statement of the work is sent together with BEGIN.
      const began = client
        .query(`${beginWith(begin, limits, path)}; ${useSettings}`)
        .then((results) => {
          const settings = toRow(results) as Settings;
          ({ backend } = settings);
          if (isWriter) assertFlushing(settings.fsync, place);
          assertEncoding(settings.encoding, place);
        });
      const [result] = await Promise.all([work(client), began]);
      await endTransaction(client, end);
      client.release();
      return result;
    } catch (error) {
      if (client !== undefined && isRolledBack(error) && (await canRollBack(client))) {
        client.release();
        throw error;
      }
      client?.release(true);
      if (current === found) current = undefined;
      void leave(pool, isTimeout(error) ? backend : undefined);
      if (hosts.length === 1 || toCode(error) !== "25006") throw error;
      throw createError("NOT_WRITABLE", "the host became read-only");
    }
  }

  return {
    /** For messages; without the password. */
    place,
    /** Makes every later transaction use the tables of one schema, whatever schemas the path of the session gets. */
    useSchema: (name: string): void => void (path = name),
    /** Runs `work` in a read-only transaction. */
    read: <T>(work: Work<T>): Promise<T> => transact("BEGIN READ ONLY", "COMMIT", work),
    /**
     * Runs `work` in a transaction. Once it resolves, everything that `work` wrote or saw is flushed, and confirmed by the
     * synchronous standby if there is one.
     */
    write: <T>(work: Work<T>): Promise<T> => transact("BEGIN", `${logMessage}; COMMIT`, work),
    /** Ends the connections that are not in use. May be called twice. */
    close: (): Promise<void> =>
      (closed ??= (async () => {
        const pool = await current?.catch(ignore);
        await pool?.end().catch(ignore);
      })()),
  };
}

/** The values of `target_session_attrs` that a host satisfies. */
const offeredSessions = `SELECT true AS "any", NOT pg_is_in_recovery() AS "primary",
  NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS "read-write"`;

/**
 * Gives every transaction something to flush. Without it, the commit of a transaction that only found plants would wait
 * neither for the flush of a commit with `synchronous_commit=off` nor for the standby.
 */
const logMessage = "SELECT pg_logical_emit_message(true, 'plantstore', '')";

/** Limited to this program's own sessions, in case the process id was reused. */
function terminate(backend: number): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = ${backend} AND usename = current_user AND application_name = current_setting('application_name')`;
}

/** A warning means that PostgreSQL committed without the confirmation of the standby. */
async function endTransaction(client: ClientBase, text: string): Promise<void> {
  const warnings: string[] = [];
  const listen = ({ message }: { message: string | undefined }) =>
    void warnings.push(message ?? "");
  client.on("notice", listen);
  try {
    await client.query(text);
  } finally {
    client.off("notice", listen);
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

async function canRollBack(client: ClientBase): Promise<boolean> {
  return (await client.query("ROLLBACK").catch(ignore)) !== undefined;
}

function ignore(): undefined {
  return undefined;
}
