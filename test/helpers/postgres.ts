/** PostgreSQL for tests: a server that is started for the tests of a file. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import type { Limits } from "../../src/store/postgres/database.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import type { OnEnd } from "./temporary-directory.ts";

/** Starts a server for the tests of a file, which may change its configuration or kill it. It is available while tests run. */
export function usePostgres(start = startPostgres): PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await start();
  }, 120_000);
  afterAll(() => server?.remove());

  return new Proxy({} as PostgresServer, {
    get(_target, member: keyof PostgresServer) {
      if (server === undefined) throw new Error("PostgreSQL is available only while tests run");
      return server[member];
    },
  });
}

/** Starts a standby of a server for the tests of a file, as {@link startSynchronousStandby} does. */
export function useSynchronousStandby(primary: PostgresServer): PostgresServer {
  return usePostgres(() => startSynchronousStandby(primary));
}

/** Starts a standby of a server, and waits until the server waits for it at every commit. */
export async function startSynchronousStandby(primary: PostgresServer): Promise<PostgresServer> {
  await primary.stop();
  const standby = await primary.startStandby();
  await primary.start();
  await runSql(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runSql(primary.url, "SELECT pg_reload_conf()");
  await vi.waitUntil(
    async () => {
      const sql = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
      return (await runSql(primary.url, sql)).length > 0;
    },
    { timeout: 60_000 },
  );
  return standby;
}

/** Returns the URL of a database that has a host and, after a failover, another one. */
export function withHost(url: string, other: string): string {
  const { host } = new URL(url);
  return url.replace(host, `${host},${new URL(other).host}`);
}

/** Time limits of an engine that must not fail on a busy machine. */
export const generousLimits: Limits = {
  connectMs: 20_000,
  statementMs: 20_000,
  responseMs: 21_000,
  idleInTransactionMs: 25_000,
  callMs: 25_000,
  shortCallMs: 20_000,
};

/** Creates an empty schema, which is dropped after the test, and returns its URL as a store. */
export async function createStoreUrl(
  serverUrl: string,
  onEnd: OnEnd = onTestFinished,
): Promise<string> {
  const schema = `test_${randomBytes(8).toString("hex")}`;
  await runSql(serverUrl, `CREATE SCHEMA ${schema}`);
  onEnd(async () => void (await runSql(serverUrl, `DROP SCHEMA ${schema} CASCADE`)));
  return withOption(serverUrl, `search_path=${schema}`);
}

/** Returns a URL that also sets a setting of its sessions. */
export function withOption(url: string, setting: string): string {
  const changed = new URL(url);
  const options = changed.searchParams.get("options") ?? "";
  changed.searchParams.set("options", `${options} -c ${setting}`.trim());
  return changed.href.replaceAll("+", "%20");
}

/** Runs SQL on a new connection. */
export async function runSql(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
