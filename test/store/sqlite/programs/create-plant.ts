/**
 * Creates one plant in each of several stores at once, and prints a line for each: the result, or the error of the store.
 * Arguments: the id, the files.
 */
import { openStore } from "../../../../src/store/open-store.ts";

const [, , id = "", ...paths] = process.argv;

async function createIn(path: string): Promise<string> {
  try {
    const store = await openStore(`sqlite:${path}`);
    const { result } = await store.create({ id: BigInt(id), name: `plant ${id}` }, "reject");
    await store.close();
    return result;
  } catch (error) {
    return String(error);
  }
}

for (const line of await Promise.all(paths.map(createIn))) console.log(line);
