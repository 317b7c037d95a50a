/** The write-ahead log has a limited size, although other processes read. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import type { CreateRequest } from "../../../src/core/store.ts";
import { openSqliteEngine } from "../../../src/store/sqlite/engine.ts";
import { loadSqlite, type SqliteDatabase } from "../../../src/store/sqlite/provider.ts";
import { createTemporaryDirectory } from "../../helpers/temporary-directory.ts";

const { DatabaseSync } = await loadSqlite();
const mebibyte = 2 ** 20;

/** Starts reads that overlap without a gap. Returns a function that ends them. */
function readWithoutGap(path: string): () => Promise<void> {
  const readers = [new DatabaseSync(path), new DatabaseSync(path)] as const;
  let isOver = false;
  const beginRead = (reader: SqliteDatabase): void => {
    reader.exec("BEGIN");
    reader.exec("SELECT count(*) FROM plants");
  };
  async function read(): Promise<void> {
    let [current, next] = readers;
    beginRead(current);
    while (!isOver) {
      await sleep(5);
      beginRead(next);
      current.exec("COMMIT");
      [current, next] = [next, current];
    }
    current.exec("COMMIT");
    for (const reader of readers) reader.close();
  }
  const over = read();
  return () => {
    isOver = true;
    return over;
  };
}

it("stays below 100 MiB while 300 MiB are written and another process reads without a gap", async () => {
  const path = join(await createTemporaryDirectory(), "plants.db");
  const engine = await openSqliteEngine(path);
  onTestFinished(() => engine.close());
  const stopReading = readWithoutGap(path);
  onTestFinished(stopReading);
  let written = 0;
  let longest = 0;
  for (let version = 0; written < 300 * mebibyte; version++) {
    // The same twenty plants of a quarter of a mebibyte. Each version changes every page.
    const requests = Array.from({ length: 20 }, (_, id): CreateRequest => {
      const name = `${version % 10}`.repeat(mebibyte / 4);
      return { plant: { id: BigInt(id), name }, onConflict: "replace" };
    });
    await engine.commit(requests);
    // Reads wait for the checkpoint after a commit, and the second one for the restart that may follow. Without them, the
    // length of the log would depend on the speed of the disk.
    await engine.get(0n);
    await engine.get(0n);
    written += 5 * mebibyte;
    longest = Math.max(longest, (await stat(`${path}-wal`)).size);
  }
  expect(longest).toBeGreaterThan(20 * mebibyte);
  expect(longest).toBeLessThan(100 * mebibyte);
});
