/** The feed of a PostgreSQL store follows the contract, and a cursor is of one store only. */
import { describe, expect, it } from "vitest";
import { createGroupCommitStore } from "../../../src/store/group-commit.ts";
import { openPostgresEngine, openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { startPostgres } from "../../helpers/postgres-server.ts";
import { expectRejection } from "../expect-rejection.ts";
import { describeFeedContract, readPages } from "../feed-contract.ts";
import {
  create,
  createUserUrl,
  openEngine,
  openReader,
  openFeed,
  toPlant,
  useSettledFeed,
} from "./stores.ts";

const postgres = usePostgres();
const { settle, readAll, readIds } = useSettledFeed(postgres);

describeFeedContract(
  "postgres",
  async () => {
    const { engine, reader } = await openFeed(postgres.url);
    return {
      store: createGroupCommitStore(engine),
      reader: {
        ...reader,
        readFeed: async (query) => {
          await settle();
          return reader.readFeed(query);
        },
      },
    };
  },
  "id",
);

describe("the feed of a postgres store", () => {
  it("contains the plants of several servers in the order of their commits", async () => {
    const { url, engine, reader } = await openFeed(postgres.url);
    const engines = [engine, await openEngine(url)];
    const ids = [5n, -3n, 4n, -(2n ** 63n), 2n ** 63n - 1n, 0n];
    expect(await reader.readFeed({ limit: 9 })).toEqual([]);
    for (const [index, id] of ids.entries()) {
      await create(engines[index % 2] ?? engine, toPlant(id, "fern\0"));
    }
    const entries = await readAll(reader);
    expect(entries.map(({ plant }) => plant)).toStrictEqual(ids.map((id) => toPlant(id, "fern\0")));
    for (const limit of [1, 2, 5]) expect(await readAll(reader, undefined, limit)).toEqual(entries);
    for (const [index, { cursor }] of entries.entries()) {
      expect(await readAll(reader, cursor)).toStrictEqual(entries.slice(index + 1));
    }
  });

  it("has the changes of other programs too", async () => {
    const { url, engine, reader } = await openFeed(postgres.url);
    await create(engine, toPlant(1n), toPlant(2n), toPlant(3n));
    await runSql(url, "DELETE FROM plants WHERE id = 1");
    await runSql(
      url,
      `INSERT INTO plants (id, name) VALUES (2, 'moss')
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag`,
    );
    await runSql(url, "INSERT INTO plants (id, name) VALUES (-9, 'oak')");
    await runSql(url, "INSERT INTO plants (id, name, xid) VALUES (4, 'restored', '5')");
    const schema = new URL(url).searchParams.get("options")?.split("=")[1];
    await runSql(postgres.url, `DELETE FROM ${schema}.plants WHERE id = 3`);
    expect((await readAll(reader)).map(({ id, plant }) => [id, plant?.name])).toEqual([
      [1n, undefined],
      [2n, "moss"],
      [-9n, "oak"],
      [4n, "restored"],
      [3n, undefined],
    ]);
  });

  it("may be read by a user who may only read, and in sessions that are read-only", async () => {
    const { url, engine } = await openFeed(postgres.url);
    await create(engine, toPlant(1n));
    const userUrl = await createUserUrl(url);
    const reader = await openReader(withOption(userUrl, "default_transaction_read_only=on"));
    expect(await readIds(reader)).toEqual([1n]);
  });
});

describe("a cursor", () => {
  it.each([
    "",
    "7",
    "x-1.1",
    "-1",
    ".1",
    ".",
    "1.1.1",
    "1e3.1",
    "99999999999999999999.1",
    "1.9223372036854775808",
  ])("that is malformed is rejected: %j", async (end) => {
    const { engine, reader } = await openFeed(postgres.url);
    await create(engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(reader);
    const [storeId] = cursor.split("-");
    for (const after of [end, `${storeId}-${end}`]) {
      await expectRejection(reader.readFeed({ after, limit: 1 }), "unusable", "is malformed");
    }
  });

  it("of another store is rejected, on the same server too", async () => {
    const one = await openFeed(postgres.url);
    const other = await openFeed(postgres.url);
    await create(one.engine, toPlant(1n));
    await create(other.engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(one.reader);
    await expectRejection(
      other.reader.readFeed({ after: cursor, limit: 1 }),
      "unusable",
      "belongs to another store",
    );
    expect(await readAll(one.reader, cursor)).toEqual([]);
  });

  it("that is ahead of the store is rejected", async () => {
    const { engine, reader } = await openFeed(postgres.url);
    await create(engine, toPlant(1n));
    const [{ cursor } = { cursor: "" }] = await readAll(reader);
    const ahead = cursor.replace(/-.*/, "-999999999.1");
    await expectRejection(
      reader.readFeed({ after: ahead, limit: 1 }),
      "unusable",
      "ahead of the store",
    );
  });
});

describe("a store that was restored on another server", () => {
  it("comes first in a new feed, even if its transactions had greater ids", async () => {
    const source = await openFeed(postgres.url);
    const other = await startPostgres();
    try {
      // The other server is new, so that its transactions have small ids.
      await runSql(
        source.url,
        "DO $$ BEGIN FOR n IN 1..1000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
      );
      await create(source.engine, toPlant(9n));
      await create(source.engine, toPlant(1n));
      await create(source.engine, toPlant(2n));
      await source.engine.delete?.([2n]);
      const cursor = (await readAll(source.reader)).at(-1)?.cursor;

      await (await openPostgresEngine(other.url)).close();
      // As pg_restore does, which creates triggers last.
      await runSql(other.url, "ALTER TABLE plants DISABLE TRIGGER USER");
      for (const table of ["plants", "plantstore_deletions"]) {
        for (const row of await runSql(source.url, `SELECT * FROM ${table}`)) {
          const values = Object.values(row);
          const places = values.map((_, index) => `$${index + 1}`);
          await runSql(other.url, `INSERT INTO ${table} VALUES (${places.join()})`, values);
        }
      }
      await runSql(other.url, "ALTER TABLE plants ENABLE TRIGGER USER");
      await expectRejection(
        openPostgresReader(other.url),
        "unusable",
        "restored from another server",
      );

      const engine = await openPostgresEngine(other.url);
      const reader = await openPostgresReader(other.url);
      await create(engine, toPlant(0n));
      // Transactions of PostgreSQL itself may delay the last one.
      const ids = async () => (await readPages(reader, undefined, 1)).map(({ id }) => id);
      await expect.poll(ids).toEqual([1n, 2n, 9n, 0n]);
      await expectRejection(
        reader.readFeed({ after: cursor, limit: 1 }),
        "unusable",
        "belongs to another store",
      );
      await Promise.all([engine.close(), reader.close()]);
    } finally {
      await other.remove();
    }
  });
});
