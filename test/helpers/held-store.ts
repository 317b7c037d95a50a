/** A store whose creates wait until a test releases them with a result or an error. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PlantStore, SuccessfulResult } from "../../src/core/store.ts";
import { startServer } from "./plant-server.ts";

/** Starts a server with a store whose creates wait: its member `held` controls them. */
export async function startHeldServer(options: Parameters<typeof startServer>[0] = {}) {
  const held = createHeldStore();
  return { ...(await startServer({ store: held.store, ...options })), held };
}

/** Creates the store and the functions that control it. */
export function createHeldStore() {
  const waiting: ((result: SuccessfulResult | "conflict" | Error) => void)[] = [];
  let problem: Error | undefined;
  let checks = 0;
  const store: Pick<PlantStore, "create" | "checkWritable"> = {
    create: () =>
      new Promise((resolve, reject) => {
        waiting.push((result) =>
          result instanceof Error
            ? reject(result)
            : resolve({ result, durableAtMs: performance.now(), waitMs: 0, plants: 1 }),
        );
      }),
    async checkWritable() {
      checks++;
      if (problem !== undefined) throw problem;
    },
  };
  return {
    store,
    /** Number of calls of `checkWritable`. */
    checks: (): number => checks,
    /** Makes `checkWritable` reject with an error; undefined makes it resolve again. */
    setProblem(error: Error | undefined): void {
      problem = error;
    },
    /** Resolves once `count` creates wait. */
    async isWaiting(count: number): Promise<void> {
      while (waiting.length < count) await nextTurn();
    },
    /** Ends all creates that wait. */
    release(result: SuccessfulResult | "conflict" | Error): void {
      for (const settle of waiting.splice(0)) settle(result);
    },
  };
}
