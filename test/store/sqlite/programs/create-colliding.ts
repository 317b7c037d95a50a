/**
 * Creates the ids 1 … 2000, a third each as plants that another such program creates as well, as plants of its own that
 * the other's differ from, and as plants of its own that replace the other's; begins when the other one is there. Says
 * what became of each on a line. Arguments: the file, its own name, the other's name.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConflictPolicy } from "../../../../src/core/store.ts";
import { openStore } from "../../../../src/store/open-store.ts";

const [, , path, own = "", other = ""] = process.argv;
const store = await openStore(`sqlite:${path}`);

await store.create({ id: -BigInt(own), name: "ready" }, "reject");
while ((await store.get(-BigInt(other))) === undefined) await sleep(1);

const kinds: [name: string, onConflict: ConflictPolicy][] = [
  ["shared", "reject"],
  [`of ${own}`, "reject"],
  [`of ${own}`, "replace"],
];
const results: string[] = [];
let lastId = 0;

async function createAll(): Promise<void> {
  while (lastId < 2000) {
    const id = ++lastId;
    const [name, onConflict] = kinds[id % 3]!;
    results[id - 1] = await store.create({ id: BigInt(id), name, tag: name }, onConflict);
  }
}

await Promise.all(Array.from({ length: 20 }, createAll));
console.log(results.join("\n"));
await store.close();
