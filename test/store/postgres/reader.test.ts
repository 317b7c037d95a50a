/** A reader reads a PostgreSQL store while servers write to it, and changes nothing. */
import { describe, expect, it } from "vitest";
import { openPostgresReader } from "../../../src/store/postgres/engine.ts";
import { readPlantPages } from "../../../src/store/pages.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { expectRejection } from "../expect-rejection.ts";
import { createStoreWith, openReader } from "./stores.ts";

const postgres = usePostgres();
const fern = { id: 1n, name: "fern\0", tag: "pot" };

describe("a reader of a postgres store", () => {
  it("finds stored plants, and those that are stored later", async () => {
    const url = await createStoreWith(fern, postgres.url);
    const reader = await openReader(url);
    expect(await reader.get(1n)).toStrictEqual(fern);
    await runSql(url, "INSERT INTO plants VALUES (2, 'moss')");
    expect(await reader.list({ limit: 9 })).toStrictEqual([fern, { id: 2n, name: "moss" }]);
  });

  it("leaves no transaction open between two pages", async () => {
    const url = await createStoreWith(fern, postgres.url);
    await runSql(
      url,
      "INSERT INTO plants SELECT number, repeat('n', 1000000) FROM generate_series(2, 4) AS number",
    );
    const pages = readPlantPages(await openReader(url), { limit: Infinity });
    const first = await pages.next();
    expect(first.value).toHaveLength(3);
    await expect
      .poll(() =>
        runSql(
          url,
          "SELECT 1 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND datname = current_database()",
        ),
      )
      .toEqual([]);
    const second = await pages.next();
    expect(second.value).toHaveLength(1);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  it("works on a read-only database", async () => {
    const url = withOption(
      await createStoreWith(fern, postgres.url),
      "default_transaction_read_only=on",
    );
    expect(await (await openReader(url)).get(1n)).toStrictEqual(fern);
  });

  it("rejects a database without a store, and creates nothing", async () => {
    const url = await createStoreUrl(postgres.url);
    await expectRejection(openPostgresReader(url), "unusable", "has no plants yet");
    const tables = "SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace";
    expect(await runSql(url, tables)).toEqual([]);
  });
});
