/** Creates one plant, and prints the result or the error of the store. Arguments: the file, the id. */
import { openStore } from "../../../../src/store/open-store.ts";

const [, , path, id = ""] = process.argv;
try {
  const store = await openStore(`sqlite:${path}`);
  console.log(await store.create({ id: BigInt(id), name: `plant ${id}` }, "reject"));
  await store.close();
} catch (error) {
  console.log(String(error));
}
