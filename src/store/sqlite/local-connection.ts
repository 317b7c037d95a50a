/** A connection on the thread of its caller. It needs no other thread, which takes 40 ms to start. */
import type { ConnectionThread } from "./thread.ts";
import { type ConnectionTarget, openConnection } from "./connection.ts";
import { toStoreError } from "./sqlite-error.ts";

/** Opens a connection. Its calls block the thread. @throws StoreError, as do its calls */
export async function openLocalConnection(
  target: ConnectionTarget,
): Promise<Pick<ConnectionThread, "call" | "close">> {
  const fail = (error: unknown): never => {
    throw toStoreError(error, target.path);
  };
  const connection = await openConnection(target).catch(fail);
  return {
    async call(method, ...args) {
      try {
        return Reflect.apply(connection[method], undefined, args) as never;
      } catch (error) {
        return fail(error);
      }
    },
    async close() {
      connection.close();
    },
  };
}
