/**
 * Creates plants until it is killed, and one of them over and over; says the id of each on a line once it is
 * acknowledged. Arguments: the file, the first id.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../../../src/store/open-store.ts";

const [, , path, firstId = "1"] = process.argv;
const store = await openStore(`sqlite:${path}`);
let nextId = BigInt(firstId);

async function createForever(): Promise<never> {
  for (;;) {
    const id = nextId++;
    const tag = "x".repeat(Number(id % 2000n));
    await store.create({ id, name: `plant ${id}`, tag }, "reject");
    writeSync(1, `${id}\n`);
    const version = `${id} `.repeat(1000);
    await store.create({ id: 0n, name: version, tag: version }, "replace");
  }
}

await Promise.all(Array.from({ length: 50 }, createForever));
