/** Stores of earlier versions are upgraded, and a server continues to work while a newer version upgrades the store. */
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { loadSqlite } from "../../../src/store/sqlite/provider.ts";
import { createOldStore } from "../../helpers/old-store.ts";

it.each([1, 2] as const)(
  "upgrades a file of version %i, and keeps its plants and tokens",
  async (version) => {
    const engine = await openSqliteEngine(await createOldStore(version));
    onTestFinished(() => engine.close());
    expect(await engine.get(1n)).toStrictEqual({ id: 1n, name: "fern", tag: "pot" });
    const token = {
      digest: "ab",
      prefix: "pst_abcd",
      name: "first",
      issuedAtMs: 1,
      expiresAtMs: 2,
      revokedAtMs: undefined,
      lastUsedDay: undefined,
    };
    expect(await engine.listTokens()).toStrictEqual([token]);
    await engine.noteTokenUses(["ab"], 20_000);
    expect(await engine.listTokens()).toStrictEqual([{ ...token, lastUsedDay: 20_000 }]);
    const requests = [
      { plant: { id: 1n, name: "fern", tag: "pot" }, onConflict: "reject" as const },
      { plant: { id: 1n, name: "moss" }, onConflict: "reject" as const },
      { plant: { id: 2n, name: "moss" }, onConflict: "reject" as const },
    ];
    expect(await engine.commit(requests)).toEqual(["unchanged", "conflict", "created"]);
  },
);

it("continues to work when a newer version adds columns with defaults", async () => {
  const path = await createOldStore(2);
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  const { DatabaseSync } = await loadSqlite();
  const newer = new DatabaseSync(path);
  newer.exec(`
    ALTER TABLE plants ADD COLUMN light TEXT NOT NULL DEFAULT 'sun';
    ALTER TABLE tokens ADD COLUMN scope TEXT;
    INSERT INTO migrations VALUES (1000, 1792000000000)`);
  newer.close();
  const requests = [
    { plant: { id: 2n, name: "moss" }, onConflict: "reject" as const },
    { plant: { id: 1n, name: "rose" }, onConflict: "replace" as const },
  ];
  expect(await engine.commit(requests)).toEqual(["created", "replaced"]);
  await engine.addToken({ digest: "cd", prefix: "pst_cd", name: "second", issuedAtMs: 2 });
  expect(await engine.list({ limit: 9 })).toEqual([
    { id: 1n, name: "rose" },
    { id: 2n, name: "moss" },
  ]);
});
