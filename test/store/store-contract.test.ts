/** The store contract notices engines that keep less, or more, than what they have acknowledged. */
import { describe, expect, it } from "vitest";
import type { CommitEntry, StoreEngine } from "../../src/core/store.ts";
import { createMemoryEngine } from "../../src/store/memory.ts";
import { toEntries } from "./entries.ts";
import { expectKept } from "./store-contract.ts";

const fern = { id: 1n, name: "fern" };
const moss = { id: 1n, name: "moss" };

/** Opens a store that keeps the changes for which `keeps` is true, and makes them again when it is opened. */
function openKeeping(log: CommitEntry[], keeps: (result: string | undefined) => boolean) {
  return async (): Promise<StoreEngine> => {
    const engine = createMemoryEngine();
    for (const entry of log) await engine.commit([entry]);
    return {
      ...engine,
      async commit(entries) {
        const results = await engine.commit(entries);
        log.push(...entries.filter((_, index) => keeps(results[index])));
        return results;
      },
    };
  };
}

describe("a store that is opened again is", () => {
  it.each<[what: string, finding: string, keeps: (result: string | undefined) => boolean]>([
    ["accepted with what it has stored", "the same", (result) => result === "created"],
    ["not accepted if it forgets", "another", () => false],
    ["not accepted with what it rejected", "another", (result) => result === "conflict"],
  ])("%s", async (_, finding, keeps) => {
    const open = openKeeping([], keeps);
    const engine = await open();
    expect(await engine.commit(toEntries([fern, moss]))).toEqual(["created", "conflict"]);
    const found = await expectKept(engine, open).then(
      () => "the same",
      () => "another",
    );
    expect(found).toBe(finding);
  });
});
