/** Power failures: nothing acknowledged is lost. */
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { canMountDisks, openLoopDisk } from "../../helpers/loop-disk.ts";
import { toEntry } from "../entries.ts";
import { bundleProgram, start } from "./programs.ts";
import { openEngine } from "./stores.ts";

// test/helpers/untested.ts reports when these tests do not run.
describe.runIf(await canMountDisks())(
  "after a kill between the write of a commit and its flush",
  () => {
    /** Leaves a store with plant 1, and a change, by default plant 2, that is in the log, but not on the disk. */
    async function leaveUnflushed(change = "INSERT INTO plants (id, name) VALUES (2, 'plant 2')") {
      const disk = await openLoopDisk();
      onTestFinished(() => disk.close());
      const path = join(disk.directory, "plants.db");
      const engine = await openSqliteEngine(path);
      await engine.commit([toEntry(1n, "plant 1")]);
      await engine.close();
      const program = await bundleProgram("change-unflushed");
      const child = start(process.execPath, [program, path, change]);
      expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
      return { disk, path };
    }

    async function listIds(directory: string): Promise<readonly bigint[]> {
      const engine = await openSqliteEngine(join(directory, "plants.db"));
      const plants = await engine.list({ limit: 9 });
      await engine.close();
      return plants.map(({ id }) => id);
    }

    it("the plant is lost with the power, because no create was acknowledged", async () => {
      const { disk } = await leaveUnflushed();
      expect(await disk.losePower(listIds)).toEqual([1n]);
    });

    it.each([
      ["unchanged", "plant 2"],
      ["conflict", "plant 2 of another client"],
    ])("the plant survives a power failure once a create returned %s", async (result, name) => {
      const { disk, path } = await leaveUnflushed();
      const engine = await openEngine(path);
      expect(await engine.commit([toEntry(2n, name)])).toEqual([result]);
      expect(await disk.losePower(listIds)).toEqual([1n, 2n]);
    });

    it("the plant survives a power failure once a page has shown it", async () => {
      const { disk, path } = await leaveUnflushed();
      const engine = await openEngine(path);
      expect((await engine.list({ limit: 9 })).map(({ id }) => id)).toEqual([1n, 2n]);
      expect(await disk.losePower(listIds)).toEqual([1n, 2n]);
    });

    it("a plant stays deleted after a power failure once a delete returned absent", async () => {
      const { disk, path } = await leaveUnflushed("DELETE FROM plants WHERE id = 1");
      expect(await disk.losePower(listIds)).toEqual([1n]);
      const engine = await openEngine(path);
      expect(await engine.commit([{ kind: "delete", id: 1n }])).toEqual(["absent"]);
      expect(await disk.losePower(listIds)).toEqual([]);
    });
  },
);
