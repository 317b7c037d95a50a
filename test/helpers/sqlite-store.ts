/** Stores in files, for tests. */
import { once } from "node:events";
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import type { NewPlant } from "../../src/core/plant.ts";
import type { TokenRecord } from "../../src/core/store.ts";
import type { StoreChange } from "./store-changer.ts";
import { storeChangerScript } from "./store-changer-script.ts";
import { createTemporaryDirectory } from "./temporary-directory.ts";

/** One thread for all stores: a thread for each of them takes ten times as long. */
let thread: Worker | undefined;

/**
 * Adds plants and tokens to a store, which is created if it is missing, and closes it.
 *
 * @param url `sqlite:` with an absolute path
 * @returns all tokens in the store
 */
export async function changeStore(
  url: string,
  { plants = [], tokens = [] }: Partial<Pick<StoreChange, "plants" | "tokens">> = {},
): Promise<readonly TokenRecord[]> {
  thread ??= new Worker(storeChangerScript, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  thread.unref();
  const { port1, port2 } = new MessageChannel();
  const change: StoreChange = { path: url.replace("sqlite:", ""), plants, tokens, port: port2 };
  thread.postMessage(change, [port2]);
  const [all] = (await once(port1, "message")) as [readonly TokenRecord[]];
  port1.close();
  return all;
}

/** Creates a store with plants and tokens, and returns its URL. It is removed when the test ends. */
export async function createSqliteStore(
  plants: readonly NewPlant[],
  tokens: readonly TokenRecord[] = [],
): Promise<string> {
  const url = `sqlite:${join(await createTemporaryDirectory(), "plants.db")}`;
  await changeStore(url, { plants, tokens });
  return url;
}
