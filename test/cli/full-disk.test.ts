/** Commands that write to a full disk exit with 6, because a retry may succeed once there is room. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { parseStoreUrl } from "../../src/store/store-url.ts";
import { containing, runCli } from "../helpers/run-cli.ts";
import { canMountSmallDisks, fillDisk, openSmallDisk, resizeDisk } from "../helpers/small-disk.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";
import { readPlants } from "../helpers/stored-plants.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = { id: 1n, name: "fern" };

/** Fills a disk that has a closed store with a plant. */
async function fillDiskOfStore(): Promise<{ disk: string; path: string; url: string }> {
  const disk = await openSmallDisk(1);
  const path = join(disk, "plants.db");
  const url = `sqlite:${path}`;
  const store = await openStore(url);
  await store.create(fern, "reject");
  await store.close();
  await fillDisk(disk);
  return { disk, path, url };
}

describe.runIf(await canMountSmallDisks())("on a full disk", () => {
  it.each([["delete 1 --yes"], ["token issue"]])(
    "%s exits with 6 and advice, and works once there is room",
    async (words) => {
      const { disk, url } = await fillDiskOfStore();
      const argv = [...words.split(" "), "--store", url];
      const problem = /^error: the store \S+ is full: free some space on its disk [^\n]*\n$/;
      expect(await runCli(argv)).toExit(6, problem);
      await resizeDisk(disk, 8);
      expect(await runCli(argv)).toMatchObject({ exitCode: 0 });
    },
  );

  it.each([
    ["list --json", '{"id":1,"name":"fern"}\n'],
    ["list --count", "1\n"],
    ["get 1", '{"id":1,"name":"fern"}\n'],
    ["export", '{"id":1,"name":"fern"}\n'],
    ["token list --json", ""],
    ["backup ELSEWHERE --json", containing('"plants":1,')],
    ["verify STORE --json", containing('"plants":1,')],
  ])("%s reads a store at rest", async (words, output) => {
    const { disk, path, url } = await fillDiskOfStore();
    const elsewhere = join(await createTemporaryDirectory(), "copy");
    const argv = words.replace("ELSEWHERE", elsewhere).replace("STORE", path).split(" ");
    if (argv[0] !== "verify") argv.push("--store", url);
    expect(await runCli(argv)).toPrint(output);
    // Nothing remains that a server would find in use.
    await resizeDisk(disk, 8);
    const again = await openStore(url);
    expect(await again.create({ id: 2n, name: "moss" }, "reject")).toMatchObject({
      result: "created",
    });
    await again.close();
  });

  it("backup exits with 6 for the log that a killed server left, and copies it once there is room", async () => {
    const url = await createSqliteStore([fern]);
    const path = url.replace("sqlite:", "");
    const server = await openStore(url);
    onTestFinished(() => server.close());
    const moss = { id: 2n, name: "moss" };
    await server.create(moss, "reject");
    const disk = await openSmallDisk(1);
    const killed = join(disk, "plants.db");
    for (const suffix of ["", "-wal"]) await copyFile(path + suffix, killed + suffix);
    await fillDisk(disk);
    const copy = join(await createTemporaryDirectory(), "copy");
    const argv = ["backup", copy, "--store", `sqlite:${killed}`];
    expect(await runCli(argv)).toExit(6, containing(" is full: free some space on its disk "));
    await resizeDisk(disk, 8);
    expect(await runCli(argv)).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await readPlants(copy)).plants).toEqual([fern, moss]);
    expect((await readPlants(killed)).plants).toEqual([fern, moss]);
  });

  it("list reads a store that another process has open", async () => {
    const disk = await openSmallDisk(1);
    const path = join(disk, "plants.db");
    const store = await openStore(`sqlite:${path}`);
    onTestFinished(() => store.close());
    await store.create(fern, "reject");
    await fillDisk(disk);
    const argv = ["list", "--count", "--store", `sqlite:${path}`];
    // The process has made room for the index of the log before.
    expect(await runCli(argv)).toPrint("1\n");
  });

  it("list exits with 6 and advice while another command reads the store", async () => {
    const { url } = await fillDiskOfStore();
    const reader = await parseStoreUrl(url).openReader();
    onTestFinished(() => reader.close());
    const argv = ["list", "--count", "--store", url];
    // A reader keeps all others out where the index of the log cannot be created.
    const problem = containing("is locked by another process: try again, or stop that process");
    expect(await runCli(argv)).toExit(6, problem);
    await reader.close();
    expect(await runCli(argv)).toPrint("1\n");
  });

  it("backup exits with 6 and advice, and works once there is room", async () => {
    const disk = await openSmallDisk(1);
    const argv = ["backup", join(disk, "copy"), "--store", await createSqliteStore([fern])];
    await fillDisk(disk);
    const problem = `cannot be copied to ${disk}: free some space there, or check both disks`;
    expect(await runCli(argv)).toExit(6, containing(problem));
    await resizeDisk(disk, 8);
    expect(await runCli(argv)).toMatchObject({ exitCode: 0 });
  });
});
