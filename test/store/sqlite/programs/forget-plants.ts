/**
 * Starts thousands of creates at once, and some of them fail. Prints how many of their plants are still in memory after all
 * have ended. Needs --expose-gc. Argument: the file.
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { openStore } from "../../../../src/store/open-store.ts";

const store = await openStore(`sqlite:${process.argv[2]}`);

function createMany(count: number): { plants: WeakRef<object>[]; creates: Promise<unknown>[] } {
  const plants: WeakRef<object>[] = [];
  const creates = Array.from({ length: count }, (_, index) => {
    // Every thousandth id is outside int64, which fails its commit.
    const id = index % 1000 === 999 ? 2n ** 63n : BigInt(index);
    const plant = { id, name: `plant ${index}`, tag: "x".repeat(10_000) };
    plants.push(new WeakRef(plant));
    return store.create(plant, "reject");
  });
  return { plants, creates };
}

const { plants, creates } = createMany(5000);
const outcomes = await Promise.allSettled(creates.splice(0));
console.log(new Set(outcomes.map(({ status }) => status)).size);
outcomes.length = 0;
await endOfTurn();
globalThis.gc?.();
console.log(plants.filter((plant) => plant.deref() !== undefined).length);
await store.close();
