/** PostgreSQL for tests: the one that PLANTSTORE_TEST_POSTGRES_URL names, or one that is started for them. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

/** A server for the tests of a file, which only create schemas on it. Its `url` is there while tests run. */
export function usePostgres(): { readonly url: string } {
  const given = process.env["PLANTSTORE_TEST_POSTGRES_URL"] || undefined;
  return given === undefined ? useOwnPostgres() : { url: given };
}

/** A server for the tests of a file that do more to it. */
export function useOwnPostgres(): PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.remove());

  function started(): PostgresServer {
    if (server === undefined) throw new Error("PostgreSQL runs only while tests do");
    return server;
  }

  return {
    get url() {
      return started().url;
    },
    get socketDirectory() {
      return started().socketDirectory;
    },
    addFile: (name, content) => started().addFile(name, content),
    kill: () => started().kill(),
    start: () => started().start(),
    remove: () => started().remove(),
  };
}

/** An empty schema, as the URL of a store; it is dropped when the test has ended. */
export async function createStoreUrl(serverUrl: string): Promise<string> {
  const schema = `test_${randomBytes(8).toString("hex")}`;
  await runSql(serverUrl, `CREATE SCHEMA ${schema}`);
  onTestFinished(async () => void (await runSql(serverUrl, `DROP SCHEMA ${schema} CASCADE`)));
  return withOption(serverUrl, `search_path=${schema}`);
}

/** A URL with one more setting for its sessions. */
export function withOption(url: string, setting: string): string {
  const changed = new URL(url);
  const options = changed.searchParams.get("options") ?? "";
  changed.searchParams.set("options", `${options} -c ${setting}`.trim());
  return changed.href.replaceAll("+", "%20");
}

/** Runs SQL on a connection of its own. */
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
