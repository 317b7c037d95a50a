/** Files of earlier versions become files of this one, and keep what they have. */
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { createStoreOfVersion1 } from "../../helpers/old-store.ts";

it("a file of version 1 keeps its plants and tokens, and learns when a token was used", async () => {
  const engine = await openSqliteEngine(await createStoreOfVersion1());
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
});
