/** Reads a SQLite file as a store: on the thread of the caller where SQLite can run there, because most reads are short. */
import { resolve } from "node:path";
import type { StoreReader } from "../../core/store.ts";
import { type ConnectionTarget, openConnection } from "./connection.ts";
import { retryWhileBusy } from "./database.ts";
import { prepareDatabaseFile } from "./store-file.ts";
import { unpackPlants } from "./rows.ts";
import { isForMainThread, toStoreError } from "./driver.ts";
import type { ConnectionThread } from "./thread.ts";

/**
 * Opens a store to read, without another thread if possible. Nothing is created or changed, and others may write to it
 * meanwhile.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @throws StoreError
 */
export async function openSqliteReader(path: string): Promise<StoreReader> {
  const absolutePath = resolve(path);
  const findTarget = (): ConnectionTarget => ({
    ...prepareDatabaseFile(absolutePath, true),
    access: "read",
  });

  async function openThread(): Promise<ConnectionThread> {
    const { createConnectionThread } = await import("./thread.ts");
    const thread = createConnectionThread(absolutePath, findTarget);
    await thread.open();
    return thread;
  }

  const connection = isForMainThread ? await openLocalConnection(findTarget()) : await openThread();

  return {
    get: (id) => connection.call("get", id),
    list: async (query) => unpackPlants(await connection.call("list", query)),
    count: (filter) => connection.call("count", filter),
    listTokens: () => connection.call("listTokens"),
    close: () => connection.close(),
  };
}

/** Connects on the thread of the caller, which the calls block. Another thread takes 40 ms to start. @throws StoreError, as do its calls */
async function openLocalConnection(
  target: ConnectionTarget,
): Promise<Pick<ConnectionThread, "call" | "close">> {
  const fail = (error: unknown): never => {
    throw toStoreError(error, target.path);
  };
  const connection = await openConnection(target).catch(fail);
  let isOpen = true;
  return {
    async call(method, ...args) {
      try {
        return retryWhileBusy(() => Reflect.apply(connection[method], undefined, args) as never);
      } catch (error) {
        return fail(error);
      }
    },
    async close() {
      if (isOpen) connection.close();
      isOpen = false;
    },
  };
}
