/** A database becomes a plant store or is refused, in one line that says what to do and tells no password. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type StoreEngine, StoreError } from "../../../src/core/store.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { openPostgresReader } from "../../../src/store/postgres/reader.ts";
import { defaultLimits, type Limits } from "../../../src/store/postgres/limits.ts";
import { createStoreUrl, runSql, useOwnPostgres, withOption } from "../../helpers/postgres.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";
import { createCertificate } from "../../helpers/certificate.ts";

const postgres = useOwnPostgres();

async function openEngine(url: string): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url);
  onTestFinished(() => engine.close());
  return engine;
}

/** A URL with something else in one of its parts. */
function change(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href;
}

async function expectRefusal(
  url: string,
  reason: string,
  complaint: string,
  limits?: Limits,
): Promise<void> {
  const error = await openPostgresEngine(url, { limits }).then(
    () => expect.unreachable("it was opened"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof StoreError)) throw error;
  expect(error.message).toContain(complaint);
  expect(error).toMatchObject({ reason });
  const { password } = new URL(url);
  for (const secret of [password, decodeURIComponent(password)]) {
    if (secret !== "") expect(error.message).not.toContain(secret);
  }
  expect(error.message).not.toContain("\n");
}

describe("a database that can't be opened", () => {
  it.each<[string, Partial<URL>, string, string]>([
    ["a wrong password", { password: "tr0ub4dor" }, "unusable", "does not accept the password"],
    ["no password", { password: "" }, "unusable", "asks for a password"],
    ["an unknown user", { username: "nobody" }, "unusable", "does not accept the password"],
    ["an unknown database", { pathname: "/garden" }, "unusable", "/garden does not exist"],
    ["a port where nothing listens", { port: "1" }, "busy", ":1/postgres can't be reached"],
    ["a host that nobody knows", { hostname: "db.invalid" }, "busy", "db.invalid:"],
    ["no TLS where it is wanted", { search: "?sslmode=require" }, "unusable", "not offer TLS"],
    ["no schema", { search: "?options=-c%20search_path=none" }, "unusable", "none of the schemas"],
  ])("for %s is refused", async (_, parts, reason, complaint) => {
    await expectRefusal(change(postgres.url, parts), reason, complaint);
  });

  it("because its server never answers is refused in bounded time", async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const limits = { ...defaultLimits, connectMs: 300 };
    const url = change(postgres.url, { port: `${port}` });
    await expectRefusal(url, "busy", "can't be reached", limits);
  });

  it.each([
    ["LATIN1", "encoding LATIN1"],
    ["SQL_ASCII", "encoding SQL_ASCII"],
  ])("because its encoding is %s is refused", async (encoding, complaint) => {
    const database = `test_${encoding.toLowerCase()}`;
    await runSql(
      postgres.url,
      `CREATE DATABASE ${database} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`,
    );
    await expectRefusal(change(postgres.url, { pathname: `/${database}` }), "unusable", complaint);
  });

  it("because its server flushes nothing is refused, and found to be unsound", async () => {
    const store = await createStoreUrl(postgres.url);
    await openEngine(store);
    await configure("fsync", "off");
    onTestFinished(() => configure("fsync", "on"));
    await expectRefusal(await createStoreUrl(postgres.url), "unusable", "fsync=off");
    const reader = await openPostgresReader(store);
    onTestFinished(() => reader.close());
    await expect(reader.checkSoundness()).rejects.toMatchObject({
      message: expect.stringContaining("fsync=off") as string,
    });
  });

  it("because it is from a newer plantstore is refused, and stays as it is", async () => {
    const url = await createStoreUrl(postgres.url);
    await openEngine(url);
    await runSql(url, "INSERT INTO plantstore_migrations (version) VALUES (99)");
    await expectRefusal(url, "unusable", "from a newer plantstore (its schema is 99, this one");
  });

  it.each([
    ["a table plants", "CREATE TABLE plants (species text)", "has plants of another program"],
    ["a view plants", "CREATE VIEW plants AS SELECT 1", "has plants of another program"],
    [
      "a table that only another user may read",
      "CREATE TABLE plantstore_tokens (digest text); REVOKE ALL ON plantstore_tokens FROM PUBLIC",
      "has plantstore_tokens of another program",
    ],
  ])(
    "because %s of another program is in the way is refused, and stays",
    async (_, sql, complaint) => {
      const url = await createStoreUrl(postgres.url);
      await runSql(url, sql);
      const before = await listTables(url);
      await expectRefusal(url, "unusable", complaint);
      expect(await listTables(url)).toEqual(before);
    },
  );

  it("because its user may not create tables is refused", async () => {
    const url = await createStoreUrl(postgres.url);
    await expectRefusal(await createUserUrl(url), "unusable", "grant it CREATE");
  });
});

describe("a database that is opened", () => {
  it("has its tables in the first schema of search_path, and nothing elsewhere", async () => {
    const url = await createStoreUrl(postgres.url);
    const other = await createStoreUrl(postgres.url);
    await openEngine(url);
    expect(await listTables(url)).toEqual(["plants", "plantstore_migrations", "plantstore_tokens"]);
    expect(await listTables(other)).toEqual([]);
  });

  it("is refused when it must have tables and has none, and stays so", async () => {
    const url = await createStoreUrl(postgres.url);
    await expect(openPostgresEngine(url, { mustExist: true })).rejects.toMatchObject({
      reason: "unusable",
      message: expect.stringContaining("has no plants yet") as string,
    });
    expect(await listTables(url)).toEqual([]);
    await openEngine(url);
    await (await openPostgresEngine(url, { mustExist: true })).close();
  });

  it("is completed when somebody was stopped while creating it", async () => {
    const url = await createStoreUrl(postgres.url);
    await openEngine(url);
    await runSql(url, "DROP TABLE plantstore_tokens; DELETE FROM plantstore_migrations");
    const engine = await openEngine(url);
    expect(await engine.listTokens()).toEqual([]);
  });

  it("may be used by somebody who could not create its tables", async () => {
    const url = await createStoreUrl(postgres.url);
    await openEngine(url);
    const userUrl = await createUserUrl(url);
    const engine = await openEngine(userUrl);
    expect(await engine.list({ limit: 1 })).toEqual([]);
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "unusable" });
    await runSql(url, "GRANT INSERT ON plants TO PUBLIC");
    await expect(engine.checkWritable()).resolves.toBeUndefined();
  });

  it("is reached by a Unix socket", async () => {
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
  ])("with synchronous_commit=%s commits with %s", async (setting, used) => {
    const url = await createStoreUrl(postgres.url);
    const engine = await openEngine(withOption(url, `synchronous_commit=${setting}`));
    await runSql(
      url,
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.tag = current_setting('synchronous_commit'); RETURN NEW; END $$;
      CREATE TRIGGER note BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    await engine.commit([{ plant: { id: 1n, name: "fern" }, onConflict: "reject" }]);
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
    await configure("ssl_cert_file", rootPath);
    await configure("ssl_key_file", await postgres.addFile("server.key", key));
    await configure("ssl", "on");
  });
  afterAll(() => configure("ssl", "off"));

  const own = () => `&sslrootcert=${rootPath}`;
  const other = () => `&sslrootcert=${otherRootPath}`;
  const none = () => "";

  it.each([
    ["disable", "127.0.0.1", none, false],
    ["require", "127.0.0.1", none, true],
    ["verify-ca", "127.0.0.1", own, true],
    ["verify-full", "localhost", own, true],
  ])("by sslmode=%s to %s: it is opened", async (mode, hostname, root, isEncrypted) => {
    await openEngine(change(postgres.url, { hostname, search: `?sslmode=${mode}${root()}` }));
    const connections = await runSql(
      postgres.url,
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore'",
    );
    expect(connections).toEqual([{ ssl: isEncrypted }]);
  });

  it.each([
    ["verify-ca", "127.0.0.1", other],
    ["verify-full", "localhost", none],
    ["verify-full", "localhost", other],
    ["verify-full", "127.0.0.1", own],
  ])(
    "by sslmode=%s to %s with a certificate that does not fit: it is refused",
    async (mode, hostname, root) => {
      const url = change(postgres.url, { hostname, search: `?sslmode=${mode}${root()}` });
      await expectRefusal(url, "unusable", "a certificate that can't be trusted");
    },
  );

  it("and certificates to trust that can't be read: it is refused", async () => {
    const path = join(await createTemporaryDirectory(), "missing.pem");
    const search = `?sslmode=verify-full&sslrootcert=${path}`;
    await expectRefusal(change(postgres.url, { search }), "unusable", "missing.pem");
    await writeFile(path, "not a certificate");
    await expectRefusal(change(postgres.url, { search }), "unusable", "missing.pem");
  });
});

async function listTables(url: string): Promise<unknown[]> {
  const rows = await runSql(
    url,
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v') ORDER BY 1",
  );
  return rows.map(({ relname }) => relname);
}

/** The URL of a store for a user who may use its schema, and read its tables. */
async function createUserUrl(url: string): Promise<string> {
  const user = `user_${randomBytes(4).toString("hex")}`;
  await runSql(
    url,
    `DO $$ BEGIN
      CREATE ROLE ${user} LOGIN PASSWORD 'secret';
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${user}', current_schema());
      EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO ${user}', current_schema());
    END $$`,
  );
  return change(url, { username: user, password: "secret" });
}

/** Changes the configuration of the server, and waits until new connections have it. */
async function configure(setting: string, value: string): Promise<void> {
  await runSql(postgres.url, `ALTER SYSTEM SET ${setting} = '${value}'`);
  await runSql(postgres.url, "SELECT pg_reload_conf()");
  await vi.waitUntil(async () => {
    const [row] = await runSql(postgres.url, `SHOW ${setting}`);
    return row?.[setting] === value;
  });
}
