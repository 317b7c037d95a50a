/** The connections to a database: opened when they are needed, and never used again once something is wrong with one. */
import type { ConnectionOptions } from "node:tls";
import { Pool, type PoolClient } from "pg";
import { isRolledBack } from "./failure.ts";
import type { Limits } from "./limits.ts";
import { type PostgresLocation, toPlace } from "./postgres-url.ts";
import type { PrepareSession } from "./session.ts";

/** The connections of an engine. */
export interface Connections {
  /** Runs `work` on a connection of its own. What it throws is thrown; a transaction that it left open is undone. */
  use<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Ends them once they are not in use. May be called twice. */
  close(): Promise<void>;
}

/** One for the commits, which come one at a time, and a few for reading beside them. */
const maxConnections = 4;
/** Shorter than what firewalls take to forget a connection silently. */
const idleTimeoutMs = 30_000;
const keepAliveDelayMs = 10_000;

/** Connections to a database, none of them open yet. */
export function createConnections(
  location: PostgresLocation,
  tls: ConnectionOptions | false,
  limits: Limits,
  prepareSession: PrepareSession,
): Connections {
  const { host, port, database, user, password, options } = location;
  const place = toPlace(location);
  const pool = new Pool({
    host,
    port,
    database,
    user,
    password,
    options,
    ssl: tls,
    application_name: "plantstore",
    max: maxConnections,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.answerMs,
    idleTimeoutMillis: idleTimeoutMs,
    // A server that does not answer to the goodbye is not to hold up the end of the process.
    allowExitOnIdle: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, as its types don't say
    onConnect: (client) => {
      // Between two statements nobody else would listen, and an unheard error ends the process.
      client.on("error", ignore);
      return prepareSession(client, place, limits);
    },
  });
  // A connection that was lost while idle: the pool has dropped it already.
  pool.on("error", ignore);
  let closed: Promise<void> | undefined;

  return {
    async use(work) {
      const client = await pool.connect();
      try {
        const result = await work(client);
        client.release();
        return result;
      } catch (error) {
        const isSound = isRolledBack(error) && (await canRollBack(client));
        client.release(!isSound);
        throw error;
      }
    },
    close: () => (closed ??= pool.end()),
  };
}

async function canRollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

function ignore(): void {
  // What failed with the connection is told by the statement that fails on it.
}
