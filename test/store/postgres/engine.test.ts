/** The PostgreSQL engine follows the contract, and its tables can be read with SQL. */
import { describe, expect, it } from "vitest";
import { int64Max } from "../../../src/core/plant.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import { createStoreUrl, runSql, usePostgres, withOption } from "../../helpers/postgres.ts";
import { toEntries, toEntry } from "../entries.ts";
import { describeStoreContract } from "../store-contract.ts";
import { openEngine, openStore } from "./stores.ts";

const postgres = usePostgres();

describeStoreContract("postgres", async (onEnd) => {
  const url = await createStoreUrl(postgres.url, onEnd);
  return () => openPostgresEngine(url);
});

describe("a batch of the postgres engine", () => {
  it("may contain 12 MiB of text", async () => {
    const { engine } = await openStore(postgres.url);
    const entries = Array.from({ length: 12 }, (_, id) =>
      toEntry(BigInt(id), `${id}`.repeat(2 ** 20)),
    );
    expect(new Set(await engine.commit(entries))).toEqual(new Set(["created"]));
    expect(new Set(await engine.commit(entries))).toEqual(new Set(["unchanged"]));
    expect(await engine.get(11n)).toStrictEqual(entries[11]?.plant);
  });
});

describe("a list of the postgres engine", () => {
  it.each([["pot"], [""], ["a\0b"], ["␛␀"], ["mönstera"]])(
    "contains only plants of the tag %j",
    async (tag) => {
      const { engine } = await openStore(postgres.url);
      const others = ["pot ", "Pot", "a", "a\0c", "␛", "mo\u0308nstera"];
      const plants = [
        { id: 1n, name: "untagged" },
        { id: 2n, name: "fern", tag },
        ...others.map((other, index) => ({ id: BigInt(index + 3), name: tag, tag: other })),
      ];
      await engine.commit(toEntries(plants));
      expect(await engine.list({ tag, limit: 10 })).toStrictEqual([{ id: 2n, name: "fern", tag }]);
    },
  );
});

describe("a postgres store, read with SQL", () => {
  it("contains plants unchanged, except for NUL as ␛␀", async () => {
    const { url, engine } = await openStore(postgres.url);
    const plants = [
      { id: int64Max, name: "mönstera", tag: "" },
      { id: 7n, name: "a\0b␛" },
    ];
    await engine.commit(toEntries(plants));
    expect(await runSql(url, "SELECT id, name, tag FROM plants ORDER BY id")).toEqual([
      { id: "7", name: "a␛␀b␛␛", tag: null },
      { id: "9223372036854775807", name: "mönstera", tag: "" },
    ]);
  });
});

describe("the postgres engine on a database that cannot store", () => {
  const fern = toEntry(1n, "fern");

  it("reports a read-only database, and still reads", async () => {
    const store = await openStore(postgres.url);
    await store.engine.commit([fern]);
    const engine = await openEngine(withOption(store.url, "default_transaction_read_only=on"));
    await expect(engine.checkWritable()).rejects.toMatchObject({ reason: "full" });
    await expect(engine.commit([fern])).rejects.toMatchObject({ reason: "full" });
    expect(await engine.get(1n)).toStrictEqual(fern.plant);
  });

  it.each([
    ["53100", "full"],
    ["53200", "busy"],
    ["57014", "busy"],
    ["42501", "busy"],
    ["58030", "busy"],
    ["XX000", "failed"],
  ])(
    "stores nothing of a batch that fails with SQLSTATE %s, and works afterwards",
    async (state, reason) => {
      const { url, engine } = await openStore(postgres.url);
      await runSql(
        url,
        `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.id = 2 THEN RAISE 'no' USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail()`,
      );
      const batch = [fern, toEntry(2n, "moss")];
      await expect(engine.commit(batch)).rejects.toMatchObject({ name: "StoreError", reason });
      expect(await engine.list({ limit: 10 })).toEqual([]);

      await runSql(url, "DROP TRIGGER fail ON plants");
      await expect(engine.checkWritable()).resolves.toBeUndefined();
      expect(await engine.commit(batch)).toEqual(["created", "created"]);
    },
  );
});
