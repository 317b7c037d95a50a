/** A store by its URL. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { createTemporaryDirectory } from "../helpers/temporary-directory.ts";

const fern = { id: 1n, name: "fern" };

describe("openStore", () => {
  it("memory: gives a new store each time", async () => {
    const first = await openStore("memory:");
    await first.create(fern, "reject");
    const second = await openStore("memory:");
    expect(await first.get(1n)).toEqual(fern);
    expect(await second.get(1n)).toBeUndefined();
    await Promise.all([first.close(), second.close()]);
  });

  it("sqlite:PATH gives the same store again", async () => {
    const url = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
    const first = await openStore(url);
    await first.create(fern, "reject");
    await first.close();
    const second = await openStore(url);
    expect(await second.get(1n)).toEqual(fern);
    await second.close();
  });

  it("anything else is refused", async () => {
    await expect(openStore("mysql:")).rejects.toMatchObject({ reason: "unusable" });
  });
});
