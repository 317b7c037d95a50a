/** PostgreSQL stores, and the connections, users and databases of tests. All of them end with the test. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { onTestFinished, vi } from "vitest";
import type { NewPlant } from "../../../src/core/plant.ts";
import type { StoreEngine, StoreReader } from "../../../src/core/store.ts";
import { openPostgresEngine, openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { createStoreUrl, generousLimits, runSql } from "../../helpers/postgres.ts";
import { toEntries } from "../entries.ts";

export async function openEngine(url: string, limits = generousLimits): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url, { limits });
  onTestFinished(() => engine.close());
  return engine;
}

export async function openReader(
  url: string,
  onWarning?: (message: string) => void,
): Promise<StoreReader> {
  const reader = await openPostgresReader(url, { onWarning });
  onTestFinished(() => reader.close());
  return reader;
}

/** Opens an empty store. */
export async function openStore(
  serverUrl: string,
  limits = generousLimits,
): Promise<{ url: string; engine: StoreEngine }> {
  const url = await createStoreUrl(serverUrl);
  return { url, engine: await openEngine(url, limits) };
}

/** Creates a store with a plant, which nothing has open. @returns its URL */
export async function createStoreWith(plant: NewPlant, serverUrl: string): Promise<string> {
  const url = await createStoreUrl(serverUrl);
  const engine = await openPostgresEngine(url);
  await engine.commit(toEntries([plant]));
  await engine.close();
  return url;
}

/** Returns a URL with other parts. */
export function changeUrl(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href;
}

/** Creates a database. @returns its URL */
export async function createDatabase(serverUrl: string): Promise<string> {
  const database = `test_${randomBytes(4).toString("hex")}`;
  await runSql(serverUrl, `CREATE DATABASE ${database}`);
  onTestFinished(async () => {
    await runSql(serverUrl, `DROP DATABASE ${database} WITH (FORCE)`);
  });
  return changeUrl(serverUrl, { pathname: `/${database}` });
}

/** Creates a user who may read the tables of a store, and more if needed. @returns the URL of the store for the user */
export async function createUserUrl(
  url: string,
  onSchema = "USAGE",
  onTables = "SELECT",
): Promise<string> {
  const user = `user_${randomBytes(4).toString("hex")}`;
  await runSql(
    url,
    `DO $$ BEGIN
      CREATE ROLE ${user} LOGIN PASSWORD 'secret';
      EXECUTE format('GRANT USAGE, ${onSchema} ON SCHEMA %I TO ${user}', current_schema());
      EXECUTE format('GRANT ${onTables} ON ALL TABLES IN SCHEMA %I TO ${user}', current_schema());
      EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO ${user}', current_schema());
    END $$`,
  );
  onTestFinished(async () => {
    await runSql(url, `DROP OWNED BY ${user}; DROP ROLE ${user}`);
  });
  return changeUrl(url, { username: user, password: "secret" });
}

/** Changes the configuration of a server, and waits until new connections use it. */
export async function configure(serverUrl: string, setting: string, value: string): Promise<void> {
  await runSql(serverUrl, `ALTER SYSTEM SET ${setting} = '${value}'`);
  await runSql(serverUrl, "SELECT pg_reload_conf()");
  const read = async () => (await runSql(serverUrl, `SHOW ${setting}`))[0]?.[setting];
  // Hooks call this too, where expect.poll is not available.
  await vi.waitUntil(async () => (await read()) === value, { timeout: 20_000 });
}

/** Waits until a query returns rows. */
export async function waitForRows(url: string, sql: string, count = 1): Promise<void> {
  await vi.waitUntil(async () => (await runSql(url, sql)).length >= count, { timeout: 30_000 });
}

/** Opens a connection of another program. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
