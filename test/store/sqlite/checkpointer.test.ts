/** When checkpoints are made, and when commits wait for one. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CreateEntry } from "../../../src/core/store.ts";
import { createCheckpointer } from "../../../src/store/sqlite/engine.ts";

/** Returns creates that write a number of pages: each writes the page of its id. */
function toRequests(pages: number, name = "fern"): CreateEntry[] {
  return Array.from({ length: pages }, (_, id) => ({
    plant: { id: BigInt(id), name },
    onConflict: "reject",
  }));
}

/** Creates a connection that records its calls. Its log has the given lengths, one after the other. */
function createStagedConnection(logPages: number[], canRestart = true) {
  const log: string[] = [];
  return {
    log,
    async checkpoint() {
      log.push("checkpoint");
      const pages = logPages.shift();
      if (pages === undefined) throw new Error("staged");
      return pages;
    },
    async finish() {
      log.push("finish");
    },
    async restartLog() {
      log.push("restart");
      return canRestart;
    },
  };
}

/** Notes commits of pages, each in a turn of its own. */
async function noteCommits(
  connection: ReturnType<typeof createStagedConnection>,
  count: number,
  pages: number,
) {
  const checkpointer = createCheckpointer(connection);
  for (let commit = 1; commit <= count; commit++) {
    checkpointer.noteCommit(toRequests(pages));
    await endOfTurn();
  }
  return checkpointer;
}

describe("a checkpoint", () => {
  it.each<[what: string, requests: CreateEntry[], log: string[]]>([
    ["is not made after 999 pages", toRequests(999), []],
    ["is made after 1000 pages", toRequests(1000), ["checkpoint"]],
    ["is made sooner after large plants", toRequests(100, "x".repeat(40_000)), ["checkpoint"]],
  ])("%s", (_, requests, log) => {
    const connection = createStagedConnection([1]);
    createCheckpointer(connection).noteCommit(requests);
    expect(connection.log).toEqual(log);
  });

  it("counts the pages of all commits since the last one", async () => {
    const connection = createStagedConnection([1, 1]);
    const checkpointer = await noteCommits(connection, 5, 400);
    expect(connection.log).toEqual(["checkpoint"]);
    checkpointer.noteCommit(toRequests(400));
    expect(connection.log).toEqual(["checkpoint", "checkpoint"]);
  });

  it("is made one at a time", async () => {
    const connection = createStagedConnection([1, 1]);
    const checkpointer = createCheckpointer(connection);
    checkpointer.noteCommit(toRequests(1000));
    checkpointer.noteCommit(toRequests(1000));
    expect(connection.log).toEqual(["checkpoint"]);
    await endOfTurn();
    checkpointer.noteCommit(toRequests(1));
    expect(connection.log).toEqual(["checkpoint", "checkpoint"]);
  });

  it("is made again after one that failed", async () => {
    const connection = createStagedConnection([]);
    const checkpointer = await noteCommits(connection, 1, 1000);
    checkpointer.noteCommit(toRequests(1000));
    expect(connection.log).toEqual(["checkpoint", "checkpoint"]);
  });
});

describe("commits wait until the log can start again", () => {
  it.each<[when: string, canRestart: boolean, logPages: number[], restarts: number]>([
    ["not while it is short", true, [8000, 15_999], 0],
    ["when it has grown to 16000 pages", true, [16_000], 1],
    ["each time, if the log could start again", true, [16_000, 16_000, 16_000], 3],
    ["once, while a read takes long", false, [16_000, 17_000, 31_999], 1],
    ["again when it is twice as long", false, [16_000, 32_000, 63_999, 64_000], 3],
    ["again at 16000 pages after it was short", false, [16_000, 10, 16_000], 2],
  ])("%s", async (_, canRestart, logPages, restarts) => {
    const connection = createStagedConnection([...logPages], canRestart);
    await noteCommits(connection, logPages.length, 1000);
    expect(connection.log.filter((call) => call === "restart")).toHaveLength(restarts);
  });

  it("only for the rest of the log, when it has 8000 pages", async () => {
    const connection = createStagedConnection([7999, 8000]);
    await noteCommits(connection, 2, 1000);
    expect(connection.log).toEqual(["checkpoint", "checkpoint", "finish"]);
  });
});
