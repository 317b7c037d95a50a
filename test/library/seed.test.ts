/** Seeds larger than a batch. test/cli/commands/serve/seeds.test.ts has what is read and checked of a seed. */
import { expect, it } from "vitest";
import { type SeedRecord, storeSeed } from "../../src/library/seed.ts";
import { openStore } from "../../src/store/open-store.ts";

it("stores a seed of several batches in its order, and reports progress", async () => {
  const store = await openStore("memory:");
  const records = Array.from({ length: 10_001 }, (_, index): SeedRecord => {
    return { plant: { id: BigInt(index % 10_000), name: `fern ${index}` }, name: `${index}` };
  });
  const progress: number[] = [];
  const tally = await storeSeed(store, records, "replace", (count) => void progress.push(count));
  expect(tally).toEqual({ created: 10_000, unchanged: 0, replaced: 1 });
  expect(await store.get(0n)).toMatchObject({ name: "fern 10000" });
  expect(progress).toEqual([4000, 8000, 10_001]);
});
