/** Creates small plants and one of 4 MB. Prints each result. Argument: the file. */
import { StoreError } from "../../../../src/core/store.ts";
import { openStore } from "../../../../src/store/open-store.ts";

const store = await openStore(`sqlite:${process.argv[2]}`);

async function create(id: bigint, name: string): Promise<void> {
  try {
    console.log((await store.create({ id, name }, "reject")).result);
  } catch (error) {
    console.log(error instanceof StoreError ? error.reason : error);
  }
}

await create(1n, "small");
await create(2n, "x".repeat(2 ** 22));
await create(3n, "small");
await create(2n, "small");
await store.close();
