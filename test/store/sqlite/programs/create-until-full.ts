/**
 * Creates plants of 20 kB, fifty at a time, until some fail. Prints the reason, the number of created plants that are missing,
 * and the number of failed plants that exist. After a line on stdin, creates the failed plants again and prints the results.
 * Argument: the file.
 */
import { once } from "node:events";
import type { NewPlant } from "../../../../src/core/plant.ts";
import { StoreError } from "../../../../src/core/store.ts";
import { openStore } from "../../../../src/store/open-store.ts";

const store = await openStore(`sqlite:${process.argv[2]}`);

async function create(plant: NewPlant): Promise<string> {
  try {
    return (await store.create(plant, "reject")).result;
  } catch (error) {
    return error instanceof StoreError ? error.reason : String(error);
  }
}

const outcomes = new Map<NewPlant, string>();
const isCreated = (plant: NewPlant): boolean => outcomes.get(plant) === "created";
let plants: NewPlant[] = [];
while (plants.every(isCreated)) {
  const { size } = outcomes;
  plants = Array.from({ length: 50 }, (_, index) => {
    const id = BigInt(size + index);
    return { id, name: `plant ${id}`, tag: "x".repeat(20_000) };
  });
  await Promise.all(plants.map(async (plant) => outcomes.set(plant, await create(plant))));
}

const failed = [...outcomes.keys()].filter((plant) => !isCreated(plant));
const reasons = new Set(failed.map((plant) => outcomes.get(plant)));
let missing = 0;
let there = 0;
for (const plant of outcomes.keys()) {
  const isThere = JSON.stringify((await store.get(plant.id))?.tag) === JSON.stringify(plant.tag);
  if (isCreated(plant) && !isThere) missing++;
  if (!isCreated(plant) && isThere) there++;
}
console.log(`${[...reasons].join()}: ${missing} missing, ${there} there`);

await once(process.stdin, "data");
console.log([...new Set(await Promise.all(failed.map(create)))].join());
process.stdin.destroy();
await store.close();
