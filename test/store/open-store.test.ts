/** Opens stores by their URLs. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";
import { expectRejection } from "./expect-rejection.ts";

const fern = { id: 1n, name: "fern" };

describe("openStore", () => {
  it("opens a new store each time for memory:", async () => {
    const first = await openStore("memory:");
    await first.create(fern, "reject");
    const second = await openStore("memory:");
    expect(await first.get(1n)).toEqual(fern);
    expect(await second.get(1n)).toBeUndefined();
    await Promise.all([first.close(), second.close()]);
  });

  it("rejects a missing store that must exist, and creates no file", async () => {
    const directory = await createTemporaryDirectory();
    const url = `sqlite:${join(directory, "plants.db")}`;
    await expectRejection(openStore(url, { mustExist: true }), "unusable", "does not exist: ");
    expect(await readdir(directory)).toEqual([]);
    await (await openStore(url)).close();
    await (await openStore(url, { mustExist: true })).close();
  });

  it("rejects memory: as a store that must exist", async () => {
    await expect(openStore("memory:", { mustExist: true })).rejects.toThrow(
      "exists only inside its server process: ",
    );
  });
});
