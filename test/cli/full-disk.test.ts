/** Commands that write to a full disk exit with 6, because a retry may succeed once there is room. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { runCli } from "../helpers/run-cli.ts";
import { canMountSmallDisks, fillDisk, openSmallDisk, resizeDisk } from "../helpers/small-disk.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

const fern = { id: 1n, name: "fern" };

describe.runIf(await canMountSmallDisks())("on a full disk", () => {
  it.each([["delete 1 --yes"], ["token issue"]])(
    "%s exits with 6 and advice, and works once there is room",
    async (words) => {
      const disk = await openSmallDisk(1);
      const url = `sqlite:${join(disk, "plants.db")}`;
      const store = await openStore(url);
      await store.create(fern, "reject");
      await store.close();
      await fillDisk(disk);
      const argv = [...words.split(" "), "--store", url];
      const { exitCode, stdout, stderr } = await runCli(argv);
      expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
      expect(stderr).toMatch(/^error: the store \S+ has no room: make room on its disk [^\n]*\n$/);
      await resizeDisk(disk, 8);
      expect(await runCli(argv)).toMatchObject({ exitCode: 0 });
    },
  );

  it("backup exits with 6 and advice, and works once there is room", async () => {
    const disk = await openSmallDisk(1);
    const argv = ["backup", join(disk, "copy"), "--store", await createSqliteStore([fern])];
    await fillDisk(disk);
    const { exitCode, stdout, stderr } = await runCli(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "" });
    expect(stderr).toContain(`cannot be copied to ${disk}: make room there, or check both disks`);
    await resizeDisk(disk, 8);
    expect(await runCli(argv)).toMatchObject({ exitCode: 0 });
  });
});
