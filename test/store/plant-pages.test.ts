/** The number of plants in memory at a time. */
import { describe, expect, it } from "vitest";
import { readPlantPages } from "../../src/store/plant-pages.ts";
import { openStore } from "../../src/store/open-store.ts";

/** Reads the number of plants on each page. */
async function readPageSizes(names: readonly string[], limit = Infinity): Promise<number[]> {
  const store = await openStore("memory:");
  for (const [index, name] of names.entries()) {
    await store.create({ id: BigInt(index), name }, "reject");
  }
  const sizes: number[] = [];
  for await (const page of readPlantPages(store, { limit })) sizes.push(page.length);
  await store.close();
  return sizes;
}

const small = "fern";
const large = "n".repeat(1024 * 1024);

describe("a page", () => {
  it("is twice as large as the one before, and at most 100 plants", async () => {
    const sizes = await readPageSizes(Array<string>(400).fill(small));
    expect(sizes).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100, 73]);
  });

  it("is one plant when plants are large", async () => {
    expect(await readPageSizes(Array<string>(5).fill(large))).toEqual([1, 1, 1, 1, 1]);
  });

  it("shrinks when plants become larger", async () => {
    const names = [...Array<string>(127).fill(small), ...Array<string>(102).fill(large)];
    expect(await readPageSizes(names)).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 1, 1]);
  });

  it("contains no more plants than the limit, and is never empty", async () => {
    expect(await readPageSizes(Array<string>(20).fill(small), 10)).toEqual([1, 2, 4, 3]);
    expect(await readPageSizes(Array<string>(3).fill(small))).toEqual([1, 2]);
    expect(await readPageSizes([])).toEqual([]);
  });
});
