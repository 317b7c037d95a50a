/** Script of the thread that creates and changes stores for tests. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type MessagePort, parentPort } from "node:worker_threads";
import type { NewPlant } from "../../src/core/plant.ts";
import type { TokenRecord } from "../../src/core/store.ts";
import { openConnection } from "../../src/store/sqlite/connection.ts";
import { prepareDatabaseFile } from "../../src/store/sqlite/store-file.ts";
import { packEntries } from "../../src/store/sqlite/rows.ts";
import { toEntries } from "../store/entries.ts";

/** Plants and tokens to add to a store, which is created if it is missing. */
export interface StoreChange {
  /** Absolute path of the file. */
  readonly path: string;
  readonly plants: readonly NewPlant[];
  readonly tokens: readonly TokenRecord[];
  /** Receives all tokens in the store once it is closed. */
  readonly port: MessagePort;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

parentPort?.on("message", (change: StoreChange) => void handle(change));

async function handle({ port, ...change }: StoreChange): Promise<void> {
  const tokens = await apply(change);
  // Node 20: a database stays open until its statements are collected.
  collectGarbage();
  await endOfTurn();
  port.postMessage(tokens);
}

async function apply({
  path,
  plants,
  tokens,
}: Omit<StoreChange, "port">): Promise<readonly TokenRecord[]> {
  const connection = await openConnection({ ...prepareDatabaseFile(path, false), access: "first" });
  connection.commit(packEntries(toEntries(plants)));
  for (const token of tokens) connection.addToken(token);
  const all = connection.listTokens();
  connection.close();
  return all;
}
