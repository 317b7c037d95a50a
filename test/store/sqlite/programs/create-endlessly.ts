/** Creates plants until it is killed; says the id of each on a line once it is acknowledged. Argument: the file. */
import { writeSync } from "node:fs";
import { openStore } from "../../../../src/store/open-store.ts";

const store = await openStore(`sqlite:${process.argv[2]}`);
let lastId = 0n;

async function createForever(): Promise<never> {
  for (;;) {
    const id = ++lastId;
    await store.create({ id, name: `plant ${id}`, tag: "x".repeat(500) }, "reject");
    writeSync(1, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: 20 }, createForever));
