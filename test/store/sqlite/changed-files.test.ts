/** Files of a store that other programs change. */
import { describe, expect, it } from "vitest";
import type { CreateEntry } from "../../../src/core/store.ts";
import { verifySqliteFile } from "../../../src/store/sqlite/backup.ts";
import { bundleProgram, run } from "./programs.ts";
import { connect, createPath, openEngine } from "./stores.ts";

function toCreates(first: number, count: number, name = "fern"): CreateEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: "create",
    plant: { id: BigInt(first + index), name: name.repeat(500) },
    onConflict: "reject",
  }));
}

describe("a VACUUM by another program", () => {
  it("loses no plant, and stops no server", async () => {
    const path = await createPath();
    const engine = await openEngine(path);
    await engine.commit(toCreates(0, 900));
    const other = await openEngine(path);
    await other.commit(toCreates(5000, 10));
    connect(path).exec(
      "DELETE FROM plants WHERE id < 890; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)",
    );
    expect(await engine.commit(toCreates(6000, 10))).toEqual(Array(10).fill("created"));
    expect(await other.commit(toCreates(6000, 1))).toEqual(["unchanged"]);
    await Promise.all([engine.close(), other.close()]);
    expect(await verifySqliteFile(path)).toMatchObject({ plants: 30 });
  });
});

describe("a log that other processes truncate or restart", () => {
  it("loses no create, and ends none", async () => {
    const path = await createPath();
    const engine = await openEngine(path);
    const other = await openEngine(path);
    const database = connect(path);
    const program = await bundleProgram("create-plant");
    // Each of these processes closes its connection; one process more would remove the log.
    const processes = run(process.execPath, [program, "-1", path]);
    for (let turn = 0; turn < 200; turn++) {
      const committed = engine.commit(toCreates(10 * turn, 10));
      database.exec(`PRAGMA wal_checkpoint(${turn % 3 === 0 ? "RESTART" : "TRUNCATE"})`);
      const deletes = turn > 0 && turn % 5 === 0;
      const id = BigInt(10 * turn - 1);
      const deleted = deletes ? other.commit([{ kind: "delete", id }]) : undefined;
      expect(await committed).toEqual(Array(10).fill("created"));
      expect(await deleted).toEqual(deletes ? ["deleted"] : undefined);
      if (deletes) await other.emptyLog?.();
      if (turn % 7 === 0) database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      expect(await engine.commit(toCreates(10 * turn, 1))).toEqual(["unchanged"]);
    }
    expect((await processes).stdout).toBe("created\n");
    expect(await engine.count({})).toBe(2000 - 39 + 1);
  });
});
