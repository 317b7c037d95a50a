/** A store whose creates wait until a test lets them go or fail. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CreateResult, PlantStore } from "../../src/core/store.ts";

/** The store, and how to steer it. */
export function createHeldStore() {
  const waiting: ((result: CreateResult | Error) => void)[] = [];
  let trouble: Error | undefined;
  let checks = 0;
  const store: Pick<PlantStore, "create" | "checkWritable"> = {
    create: () =>
      new Promise((resolve, reject) => {
        waiting.push((result) => (result instanceof Error ? reject(result) : resolve(result)));
      }),
    async checkWritable() {
      checks++;
      if (trouble !== undefined) throw trouble;
    },
  };
  return {
    store,
    /** How often it was asked whether it can be written. */
    checks: (): number => checks,
    /** What it says to that from now on. */
    setTrouble(error: Error | undefined): void {
      trouble = error;
    },
    /** Resolves once so many creates wait. */
    async isWaiting(count: number): Promise<void> {
      while (waiting.length < count) await sleep(2);
    },
    /** Ends all creates that wait. */
    release(result: CreateResult | Error): void {
      for (const settle of waiting.splice(0)) settle(result);
    },
  };
}
