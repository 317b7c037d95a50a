/**
 * Creates plants until it is killed, and replaces plant 0 after each. Prints the id of each acknowledged plant on a line.
 * Creates plant 0 before the first line. Arguments: the file, the first id.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../../../src/store/open-store.ts";

const [, , path, firstId = "1"] = process.argv;
const store = await openStore(`sqlite:${path}`);
let nextId = BigInt(firstId);

async function replacePlant0(id: bigint): Promise<void> {
  const version = `${id} `.repeat(1000);
  await store.create({ id: 0n, name: version, tag: version }, "replace");
}

async function createForever(): Promise<never> {
  for (;;) {
    const id = nextId++;
    const tag = "x".repeat(Number(id % 2000n));
    await store.create({ id, name: `plant ${id}`, tag }, "reject");
    writeSync(1, `${id}\n`);
    await replacePlant0(id);
  }
}

await replacePlant0(nextId);

await Promise.all(Array.from({ length: 50 }, createForever));
