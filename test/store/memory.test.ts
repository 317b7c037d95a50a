/** The memory engine keeps the contract, and its limits: the oldest plants make room, and seeds stay. */
import { describe, expect, it } from "vitest";
import type { NewPlant } from "../../src/core/plant.ts";
import { createMemoryEngine, MemoryPlants } from "../../src/store/memory.ts";
import { describeStoreContract } from "./store-contract.ts";

describeStoreContract("memory", async () => async () => createMemoryEngine(), false);

const toPlant = (id: number, name = "fern"): NewPlant => ({ id: BigInt(id), name });
const create = (plants: MemoryPlants, ...created: NewPlant[]) =>
  created.map((plant) => plants.change({ kind: "create", plant, onConflict: "replace" }));
const listIds = (plants: MemoryPlants): number[] =>
  Array.from(plants.select({}), ({ id }) => Number(id));

describe("a store in memory with limits", () => {
  it("gives up its oldest plants, but no seed", () => {
    const plants = new MemoryPlants({ seeds: [toPlant(5), toPlant(6)], maxPlants: 4 });
    create(plants, toPlant(1), toPlant(9), toPlant(2));
    expect(listIds(plants)).toEqual([2, 5, 6, 9]);
    // A replaced plant is the newest, an unchanged one is not.
    create(plants, toPlant(9, "moss"), toPlant(2), toPlant(3));
    expect(listIds(plants)).toEqual([3, 5, 6, 9]);
  });

  it("gives up a seed that was deleted or replaced as any other", () => {
    const plants = new MemoryPlants({ seeds: [toPlant(5), toPlant(6)], maxPlants: 3 });
    create(plants, toPlant(5, "moss"), toPlant(1));
    plants.change({ kind: "delete", id: 6n });
    create(plants, toPlant(6), toPlant(2), toPlant(3));
    expect(listIds(plants)).toEqual([2, 3, 6]);
    plants.clear();
    expect(Array.from(plants.select({}))).toEqual([toPlant(5), toPlant(6)]);
  });

  it("keeps within its size, whatever is created, replaced and deleted", () => {
    const plants = new MemoryPlants({ seeds: [toPlant(0)], maxBytes: 10_000 });
    for (let id = 1; id <= 500; id++) {
      create(plants, toPlant(id % 37, "ö".repeat((id * 7919) % 3000)));
      plants.change({ kind: "delete", id: BigInt(id % 11) });
      const bytes = Array.from(plants.select({}), ({ name }) => Buffer.byteLength(name));
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(10_000);
    }
    expect(listIds(plants).length).toBeGreaterThan(1);
  });

  it("with seeds that fill it has room for no other plant", () => {
    const plants = new MemoryPlants({ seeds: [toPlant(1)], maxPlants: 1 });
    expect(create(plants, toPlant(2))).toEqual(["created"]);
    expect(listIds(plants)).toEqual([1]);
  });
});
