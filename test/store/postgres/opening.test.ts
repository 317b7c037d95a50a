/** Opens a database as a plant store, or rejects it with one line that says how to fix it and contains no password. */
import { execFileSync } from "node:child_process";
import { rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { StoreErrorReason } from "../../../src/core/store.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { defaultLimits, type Limits } from "../../../src/store/postgres/database.ts";
import { openRawServer } from "../../client/scripted-server.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { createCertificate } from "../../helpers/certificate.ts";
import { toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import {
  changeUrl,
  configure,
  createUserUrl,
  openEngine,
  openReader,
  openStore,
} from "./stores.ts";

const postgres = usePostgres();

/** Expects an error of one line without the password. */
async function expectNotOpened(
  url: string,
  reason: StoreErrorReason,
  problem: string,
  limits?: Limits,
): Promise<void> {
  const opening = openPostgresEngine(url, { limits });
  await expectRejection(opening, reason, problem);
  const { password } = new URL(url);
  for (const secret of [password, decodeURIComponent(password)].filter(Boolean).concat("\n")) {
    await expect(opening).rejects.not.toThrow(secret);
  }
}

describe("opening a database", () => {
  it.each<[string, Partial<URL>, StoreErrorReason, string]>([
    ["a wrong password", { password: "tr0ub4dor" }, "unusable", "does not accept the password"],
    ["no password", { password: "" }, "unusable", "asks for a password"],
    ["an unknown user", { username: "nobody" }, "unusable", "does not accept the password"],
    ["an unknown database", { pathname: "/garden" }, "unusable", "/garden does not exist"],
    ["a port where nothing listens", { port: "1" }, "busy", ":1/postgres cannot be reached"],
    ["an unknown host", { hostname: "db.invalid" }, "busy", "db.invalid:"],
    ["a server without TLS", { search: "?sslmode=require" }, "unusable", "not offer TLS"],
    ["no schema", { search: "?options=-c%20search_path=none" }, "unusable", "none of the schemas"],
    [
      "a server that is not writable",
      { search: "?target_session_attrs=read-write&options=-c%20default_transaction_read_only=on" },
      "busy",
      "accepts no writes",
    ],
  ])("fails for %s", async (_, parts, reason, problem) => {
    await expectNotOpened(changeUrl(postgres.url, parts), reason, problem);
  });

  it("fails within its limit when its server never responds", async () => {
    const { port } = new URL(await openRawServer(() => undefined));
    const limits = { ...defaultLimits, connectMs: 300 };
    const url = changeUrl(postgres.url, { port });
    await expectNotOpened(url, "busy", "cannot be reached", limits);
  });

  it.each(["LATIN1", "SQL_ASCII"])("fails when its encoding is %s", async (encoding) => {
    const database = `test_${encoding.toLowerCase()}`;
    await runSql(
      postgres.url,
      `CREATE DATABASE ${database} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`,
    );
    const url = changeUrl(postgres.url, { pathname: `/${database}` });
    await expectNotOpened(url, "unusable", `encoding ${encoding}`);
  });

  it("fails when its server does not flush", async () => {
    await configure(postgres.url, "fsync", "off");
    onTestFinished(() => configure(postgres.url, "fsync", "on"));
    await expectNotOpened(await createStoreUrl(postgres.url), "unusable", "fsync=off");
  });

  it.each([6, 8])("fails when its tables have version %i, and changes nothing", async (version) => {
    const { url } = await openStore(postgres.url);
    await runSql(url, `UPDATE plantstore_migrations SET version = ${version}`);
    const findMigrations = "SELECT * FROM plantstore_migrations";
    const before = await runSql(url, findMigrations);
    const problem = `its schema has version ${version}, this plantstore has 7`;
    await expectNotOpened(url, "unusable", problem);
    await expectRejection(openReader(url), "unusable", problem);
    expect(await runSql(url, findMigrations)).toEqual(before);
  });

  it.each([
    ["a table plants", "CREATE TABLE plants (species text)", 'relation "plants"'],
    ["a view plants", "CREATE VIEW plants AS SELECT 1", 'relation "plants"'],
    [
      "a table that only another user may read",
      "CREATE TABLE plantstore_tokens (digest text); REVOKE ALL ON plantstore_tokens FROM PUBLIC",
      'relation "plantstore_tokens"',
    ],
  ])("fails when %s belongs to another program, and changes nothing", async (_, sql, relation) => {
    const url = await createStoreUrl(postgres.url);
    await runSql(url, sql);
    const before = await listTables(url);
    const problem =
      "has a table of another program: choose another database, or another schema with ?options=-c%20search_path=NAME";
    await expectNotOpened(url, "unusable", `${problem} (${relation} already exists)`);
    expect(await listTables(url)).toEqual(before);
  });

  it("fails when its user may not create tables", async () => {
    const url = await createStoreUrl(postgres.url);
    await expectNotOpened(await createUserUrl(url), "unusable", "grant it CREATE");
  });
});

describe("an opened database", () => {
  it("has its tables only in the first schema of search_path", async () => {
    const url = await createStoreUrl(postgres.url);
    const other = await createStoreUrl(postgres.url);
    await openEngine(url);
    expect(await listTables(url)).toEqual(["plants", "plantstore_migrations", "plantstore_tokens"]);
    expect(await listTables(other)).toEqual([]);
  });

  it("stays in its schema when an earlier one of search_path appears, and rejects a start there", async () => {
    const first = await createStoreUrl(postgres.url);
    const name = String((await runSql(first, "SELECT current_schema() AS name"))[0]?.["name"]);
    const earlier = `${name}_earlier`;
    const url = withOption(first, `search_path=${earlier},${name}`);
    const engine = await openEngine(url);
    const reader = await openReader(url);
    const fern = toEntry(1n, "fern");
    await engine.commit([fern]);
    await runSql(first, `CREATE SCHEMA ${earlier}`);
    onTestFinished(async () => {
      await runSql(postgres.url, `DROP SCHEMA ${earlier} CASCADE`);
    });
    await expectNotOpened(
      url,
      "unusable",
      `has no plants in ${earlier}, the first schema in this connection's search_path, but in its schema ${name}: name`,
    );
    await runSql(first, `CREATE TABLE ${earlier}.plants AS SELECT 1 AS id`);
    expect(await engine.commit([toEntry(1n, "moss")])).toEqual(["conflict"]);
    expect(await engine.list({ limit: 9 })).toEqual([fern.plant]);
    expect(await reader.count({})).toBe(1);
  });

  it("is rejected when it must have tables and has none, and stays empty", async () => {
    const url = await createStoreUrl(postgres.url);
    await expectRejection(
      openPostgresEngine(url, { mustExist: true }),
      "unusable",
      "has no plants yet",
    );
    expect(await listTables(url)).toEqual([]);
    await openEngine(url);
    await (await openPostgresEngine(url, { mustExist: true })).close();
  });

  it("may be used by a user who may not create its tables", async () => {
    const { url } = await openStore(postgres.url);
    const userUrl = await createUserUrl(url);
    const engine = await openEngine(userUrl);
    expect(await engine.list({ limit: 1 })).toEqual([]);
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "busy" });
    await runSql(url, "GRANT INSERT ON plants TO PUBLIC");
    await expect(engine.checkWritable()).resolves.toBeUndefined();
    await runSql(url, "ALTER TABLE plants RENAME COLUMN tag TO label");
    await expect(engine.checkWritable()).rejects.toThrow('column "tag"');
  });

  it("is reachable through a Unix socket", async () => {
    const url = new URL(postgres.url);
    url.hostname = "localhost";
    url.searchParams.set("host", postgres.socketDirectory);
    await expect((await openEngine(url.href)).checkWritable()).resolves.toBeUndefined();
  });

  it.each([
    ["off", "on"],
    ["local", "on"],
    ["remote_write", "on"],
    ["on", "on"],
    ["remote_apply", "remote_apply"],
  ])("with synchronous_commit=%s in its sessions commits with %s", async (setting, used) => {
    const url = await createStoreUrl(postgres.url);
    const engine = await openEngine(withOption(url, `synchronous_commit=${setting}`));
    await runSql(
      url,
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.tag = current_setting('synchronous_commit'); RETURN NEW; END $$;
      CREATE TRIGGER note BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    await engine.commit([toEntry(1n, "fern")]);
    expect((await engine.get(1n))?.tag).toBe(used);
  });
});

describe("a server with TLS and a certificate for localhost", () => {
  let rootPath = "";
  let otherRootPath = "";

  beforeAll(async () => {
    const { cert, key } = createCertificate("localhost");
    rootPath = await postgres.addFile("server.crt", cert);
    otherRootPath = await postgres.addFile("other.crt", createCertificate("localhost").cert);
    await configure(postgres.url, "ssl_cert_file", rootPath);
    await configure(postgres.url, "ssl_key_file", await postgres.addFile("server.key", key));
    await configure(postgres.url, "ssl", "on");
  });
  afterAll(() => configure(postgres.url, "ssl", "off"));

  const own = () => `&sslrootcert=${rootPath}`;
  const other = () => `&sslrootcert=${otherRootPath}`;
  const none = () => "";

  it.each([
    ["disable", "127.0.0.1", none, false],
    ["require", "127.0.0.1", none, true],
    ["verify-ca", "127.0.0.1", own, true],
    ["verify-full", "localhost", own, true],
  ])("accepts sslmode=%s to %s", async (mode, hostname, root, isEncrypted) => {
    await openEngine(changeUrl(postgres.url, { hostname, search: `?sslmode=${mode}${root()}` }));
    const connections =
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore'";
    // The session of an engine that was closed ends a moment later.
    await expect.poll(() => runSql(postgres.url, connections)).toEqual([{ ssl: isEncrypted }]);
  });

  it.each([
    ["verify-ca", "127.0.0.1", other],
    ["verify-full", "localhost", none],
    ["verify-full", "localhost", other],
    ["verify-full", "127.0.0.1", own],
  ])(
    "is rejected by sslmode=%s to %s when its certificate does not match",
    async (mode, hostname, root) => {
      const url = changeUrl(postgres.url, { hostname, search: `?sslmode=${mode}${root()}` });
      await expectNotOpened(url, "unusable", "presents an untrusted certificate");
    },
  );

  it("is rejected when the certificates to trust cannot be read", async () => {
    const path = join(await createTemporaryDirectory(), "missing.pem");
    const search = `?sslmode=verify-full&sslrootcert=${path}`;
    await expectNotOpened(changeUrl(postgres.url, { search }), "unusable", "missing.pem");
    await writeFile(path, "not a certificate");
    await expectNotOpened(changeUrl(postgres.url, { search }), "unusable", "missing.pem");
    await truncate(path, 4 * 1024 * 1024 + 1);
    await expectNotOpened(changeUrl(postgres.url, { search }), "unusable", "has more than");
    // A read would wait for a writer, and keep the process from its end.
    await rm(path);
    execFileSync("mkfifo", [path]);
    await expectNotOpened(changeUrl(postgres.url, { search }), "unusable", "not a regular file");
  });
});

describe("a server that asks for a client certificate", () => {
  it("accepts the one in sslcert and sslkey", async () => {
    const { cert, key } = createCertificate("postgres");
    const directory = await createTemporaryDirectory();
    const [certPath, keyPath] = [join(directory, "client.crt"), join(directory, "client.key")];
    await writeFile(certPath, cert);
    await writeFile(keyPath, key);
    const server = createCertificate("localhost");
    const rootPath = await postgres.addFile("root.crt", server.cert);
    await configure(postgres.url, "ssl_cert_file", rootPath);
    await configure(postgres.url, "ssl_key_file", await postgres.addFile("root.key", server.key));
    await configure(postgres.url, "ssl_ca_file", await postgres.addFile("clients.crt", cert));
    await configure(postgres.url, "ssl", "on");
    onTestFinished(() => configure(postgres.url, "ssl", "off"));
    const search = `?sslmode=verify-full&sslrootcert=${rootPath}`;
    const url = changeUrl(postgres.url, { hostname: "localhost", search });
    await openEngine(`${url}&sslcert=${certPath}&sslkey=${keyPath}`);
    const subjects =
      "SELECT client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore' AND ssl";
    // The sessions of closed engines end a moment later.
    await expect
      .poll(() => runSql(postgres.url, subjects))
      .toEqual([{ client_dn: "/CN=postgres" }]);
    await expectNotOpened(`${url}&sslcert=${certPath}&sslkey=${certPath}`, "unusable", "sslkey");
  });
});

describe("the password of a running engine", () => {
  it("may be wrong for a while: calls fail with busy, and work once it is corrected", async () => {
    const url = await createUserUrl(await createStoreUrl(postgres.url), "CREATE");
    const { username } = new URL(url);
    const engine = await openEngine(url);
    await runSql(postgres.url, `ALTER ROLE ${username} PASSWORD 'rotated'`);
    await runSql(
      postgres.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${username}'`,
    );
    const rejection = { reason: "busy", message: expect.stringContaining("accept the password") };
    await expect(engine.checkWritable()).rejects.toMatchObject(rejection);
    await expect(engine.listTokens()).rejects.toMatchObject(rejection);
    await runSql(postgres.url, `ALTER ROLE ${username} PASSWORD 'secret'`);
    await expect(engine.checkWritable()).resolves.toBeUndefined();
  });

  it("may come from a password file, which is read again for each connection", async () => {
    const url = await createUserUrl(await createStoreUrl(postgres.url), "CREATE");
    const { username, host } = new URL(url);
    const path = join(await createTemporaryDirectory(), "pgpass");
    const writePassword = (password: string) =>
      writeFile(path, `${host}:*:${username}:${password}\n`, { mode: 0o600 });
    await writePassword("wrong");
    vi.stubEnv("PGPASSFILE", path);
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on("warning", listen);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      process.off("warning", listen);
    });
    const withoutPassword = changeUrl(url, { password: "" });
    await expectNotOpened(withoutPassword, "unusable", "does not accept the password");
    await writePassword("secret");
    await expect((await openEngine(withoutPassword)).checkWritable()).resolves.toBeUndefined();
    expect(warnings).toEqual([]);
  });
});

async function listTables(url: string): Promise<unknown[]> {
  const rows = await runSql(
    url,
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') ORDER BY 1",
  );
  return rows.map(({ relname }) => relname);
}
