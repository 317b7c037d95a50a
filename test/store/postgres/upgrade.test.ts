/** A next version upgrades databases of this one, with a further step of the schema, while servers of this one use them. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { CommitResult, StoreEngine } from "../../../src/core/store.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { postgresSchema } from "../../../src/store/postgres/migrations.ts";
import { defaultLimits } from "../../../src/store/postgres/database.ts";
import type { Schema } from "../../../src/store/sql-tables.ts";
import { createStoreUrl, generousLimits, runSql, usePostgres } from "../../helpers/postgres.ts";
import { toEntries, toEntry } from "../entries.ts";
import { expectRejection } from "../expect-rejection.ts";
import { createStoreWith, openClient, openEngine, openReader } from "./stores.ts";
import { createVersion5, plants, token } from "./version-5.ts";

const postgres = usePostgres();
const fern = { id: 1n, name: "fern", tag: "pot" };
const findVersions = "SELECT version::int FROM plantstore_migrations ORDER BY version";
const versions = [{ version: 6 }];
const nextVersions = [...versions, { version: 7 }];

/** It has a column for plants, with a default as the schema demands, and an index. Its step fails when it is applied twice. */
const nextSchema: Schema = [
  ...postgresSchema,
  {
    version: 7,
    release: "1.1.0",
    sql: `
      ALTER TABLE plants ADD COLUMN light text NOT NULL DEFAULT 'sun';
      CREATE INDEX plants_by_light ON plants (light);
    `,
  },
];

async function openNext(
  url: string,
  limits = generousLimits,
  schema = nextSchema,
): Promise<StoreEngine> {
  const engine = await openPostgresEngine(url, { limits, schema });
  onTestFinished(() => engine.close());
  return engine;
}

describe("a further step of the schema", () => {
  it("is applied completely or not at all", async () => {
    const url = await createStoreWith(fern, postgres.url);
    const failing = {
      version: 7,
      sql: `${nextSchema.at(-1)?.sql}; INSERT INTO missing VALUES (1)`,
    };
    await expect(
      openNext(url, generousLimits, [...postgresSchema, failing] as unknown as Schema),
    ).rejects.toThrow("missing");
    expect(await runSql(url, findVersions)).toEqual(versions);
    await expect(runSql(url, "SELECT light FROM plants")).rejects.toThrow("light");
  });

  it("is a part of a new store from the beginning", async () => {
    const url = await createStoreUrl(postgres.url);
    await openNext(url);
    expect(await runSql(url, findVersions)).toEqual(nextVersions);
    expect(await runSql(url, "SELECT light FROM plants")).toEqual([]);
  });

  it("makes this version reject the store, and leave it as it is", async () => {
    const url = await createStoreWith(fern, postgres.url);
    await openNext(url);
    for (const open of [openEngine, openReader]) {
      await expectRejection(
        open(url),
        "unusable",
        "is from a newer plantstore (its schema has version 7, this plantstore has 6): install that version",
      );
    }
    expect(await runSql(url, findVersions)).toEqual(nextVersions);
  });

  it("leaves servers of this version working, so that one of both versions wins each id", async () => {
    const url = await createStoreUrl(postgres.url);
    const old = await openEngine(url);
    const next = await openNext(url);
    const ids = Array.from({ length: 50 }, (_, id) => BigInt(id));
    const create = (engine: StoreEngine, name: string): Promise<readonly CommitResult[]> =>
      engine.commit(ids.map((id) => toEntry(id, name)));
    const [ofOld, ofNext] = await Promise.all([create(old, "old"), create(next, "next")]);
    for (const id of ids) {
      const results = [ofOld[Number(id)], ofNext[Number(id)]];
      expect(new Set(results)).toEqual(new Set(["conflict", "created"]));
      const name = results[0] === "created" ? "old" : "next";
      for (const engine of [old, next]) {
        expect(await engine.get(id)).toStrictEqual({ id, name });
        expect(await engine.commit([toEntry(id, name)])).toEqual(["unchanged"]);
      }
    }
  });

  it("is not applied while another program uses the tables, and creates do not wait for that program", async () => {
    const url = await createStoreWith(fern, postgres.url);
    const other = await openClient(url);
    await other.query("BEGIN; SELECT FROM plants");
    await expectRejection(
      openNext(url, { ...defaultLimits, statementMs: 300 }),
      "busy",
      "which session holds a lock",
    );
    await runSql(url, "INSERT INTO plants VALUES (2, 'moss')");
    await other.query("COMMIT");
    expect(await (await openNext(url)).list({ limit: 9 })).toHaveLength(2);
  });
});

describe("a database of version 5", () => {
  const findParts = `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    UNION ALL SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE relnamespace = current_schema()::regnamespace
    UNION ALL SELECT column_name FROM information_schema.columns
      WHERE table_schema = current_schema()
    ORDER BY name`;

  async function open(): Promise<string> {
    const url = await createStoreUrl(postgres.url);
    await createVersion5(url);
    return url;
  }

  it("becomes one of version 6, with its plants and tokens and without its feed", async () => {
    const url = await open();
    const warnings: string[] = [];
    const onWarning = (warning: string): void => void warnings.push(warning);
    const opening = Array.from({ length: 4 }, () =>
      openPostgresEngine(url, { limits: generousLimits, onWarning }),
    );
    const engines = await Promise.all(opening);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^the store postgres:\/\/.* was upgraded from version 5 to version 6, which needs plantstore 1.0.0 or later$/,
      ),
    ]);
    for (const engine of engines) {
      onTestFinished(() => engine.close());
      expect(await engine.list({ limit: 9 })).toStrictEqual(plants);
      expect(await engine.listTokens()).toMatchObject([token]);
      const results = await engine.commit(toEntries(plants));
      expect(new Set(results)).toEqual(new Set(["unchanged"]));
    }
    const oldVersions = [3, 4, 5].map((version) => ({ version }));
    expect(await runSql(url, findVersions)).toEqual([...oldVersions, ...versions]);
    expect(await runSql(url, findParts)).toEqual(
      await runSql(await createStoreWith(fern, postgres.url), findParts),
    );
  });

  it("is not changed by a reader, which names the command that upgrades it", async () => {
    const url = await open();
    await expectRejection(openReader(url), "unusable", 'start "plantstore serve" on it once');
    expect(await runSql(url, "SELECT id::int FROM plantstore_deletions")).toEqual([{ id: 7 }]);
  });
});
