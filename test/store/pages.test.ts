/** Pages of plants end by their size, so that the memory of a reader has a limit. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { NewPlant } from "../../src/core/plant.ts";
import { parseStoreUrl } from "../../src/store/store-url.ts";
import { readPlantPages } from "../../src/store/pages.ts";
import { createSqliteStore } from "../helpers/sqlite-store.ts";

async function openReader(plants: readonly NewPlant[]) {
  const url = await createSqliteStore(plants);
  const reader = await parseStoreUrl(url).openReader();
  onTestFinished(() => reader.close());
  return reader;
}

function toPlants(names: readonly string[]): NewPlant[] {
  return names.map((name, index) => ({ id: BigInt(index), name }));
}

/** Reads the number of plants on each page. */
async function readPageSizes(names: readonly string[], limit = Infinity): Promise<number[]> {
  const reader = await openReader(toPlants(names));
  const sizes: number[] = [];
  for await (const page of readPlantPages(reader, { limit })) sizes.push(page.length);
  return sizes;
}

const small = Array<string>(3000).fill("fern");
const large = "n".repeat(1024 * 1024);

describe("a page", () => {
  it.each<[what: string, names: string[], limit: number | undefined, sizes: number[]]>([
    // 2^20 / (512 + 4)
    ["has about two thousand small plants", small, undefined, [2033, 967]],
    [
      "is one plant when plants are large",
      Array<string>(5).fill(large),
      undefined,
      [1, 1, 1, 1, 1],
    ],
    ["ends with the first large plant", [...small.slice(0, 10), large, large], undefined, [11, 1]],
    ["contains no more plants than the limit", small, 10, [10]],
    ["contains what is left of the limit", small, 2034, [2033, 1]],
    ["is never empty", [], undefined, []],
  ])("%s", async (_, names, limit, sizes) => {
    expect(await readPageSizes(names, limit)).toEqual(sizes);
  });
});

describe("a reader that stops between two pages", () => {
  it("leaves no failure unhandled when its caller stops as well", async () => {
    const reader = await openReader(toPlants([large, large]));
    const list = reader.list.bind(reader);
    let calls = 0;
    const failing: typeof list = (query) =>
      calls++ === 0 ? list(query) : Promise.reject(new Error("lost"));
    for await (const page of readPlantPages({ list: failing }, { limit: Infinity })) {
      expect(page).toHaveLength(1);
      break;
    }
    expect(calls).toBe(2);
  });
});
