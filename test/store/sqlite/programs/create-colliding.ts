/**
 * Creates the ids 1 … 2000 together with a second process, which starts at the other end of each hundred. A third are the
 * same plants in both, a third are different plants, and a third replace the other's. Prints each result on a line.
 * Arguments: the file, "up" or "down", and the other direction for the second process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConflictPolicy, CreateResult } from "../../../../src/core/store.ts";
import { openStore } from "../../../../src/store/open-store.ts";

const [, , path, own = "", other = ""] = process.argv;
const store = await openStore(`sqlite:${path}`);

/** Resolves when the other process has reached the same hundred. */
async function meet(hundred: number): Promise<void> {
  const toMark = (name: string): bigint => -BigInt(2 * hundred + (name === "up" ? 1 : 2));
  await store.create({ id: toMark(own), name: own }, "reject");
  while ((await store.get(toMark(other))) === undefined) await sleep(1);
}

const kinds: [name: string, onConflict: ConflictPolicy][] = [
  ["shared", "reject"],
  [own, "reject"],
  [own, "replace"],
];
const results: CreateResult[] = [];

async function create(id: number): Promise<void> {
  const [name, onConflict] = kinds[id % 3]!;
  const { result } = await store.create({ id: BigInt(id), name, tag: name }, onConflict);
  results[id - 1] = result;
}

for (let hundred = 0; hundred < 20; hundred++) {
  await meet(hundred);
  const ids = Array.from({ length: 100 }, (_, index) => 100 * hundred + index + 1);
  if (own === "down") ids.reverse();
  await Promise.all(ids.map(create));
}
console.log(results.join("\n"));
await store.close();
