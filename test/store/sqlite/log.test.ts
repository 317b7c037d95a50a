/** The write-ahead log has a limited size, although other processes read. */
import { stat } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import type { CreateEntry } from "../../../src/core/store.ts";
import type { SqliteDatabase } from "../../../src/store/sqlite/driver.ts";
import { createPath, openEngine, provider } from "./stores.ts";

const { DatabaseSync } = provider;
const mebibyte = 2 ** 20;

/** Time after which a read ends although nothing is committed; a restart of the log waits longer. */
const longestReadMs = 300;

/** A process that always reads: its next read begins before the last one ends. */
class Reader {
  readonly #databases: [current: SqliteDatabase, next: SqliteDatabase];
  readonly #timer: NodeJS.Timeout;

  constructor(path: string) {
    this.#databases = [new DatabaseSync(path), new DatabaseSync(path)];
    beginRead(this.#databases[0]);
    this.#timer = setInterval(() => this.readOn(), longestReadMs);
  }

  /** Begins the next read. Directly after a commit, it needs the log: no checkpoint has copied the commit yet. */
  readOn(): void {
    const [current, next] = this.#databases;
    beginRead(next);
    current.exec("COMMIT");
    this.#databases.reverse();
    this.#timer.refresh();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const database of this.#databases) database.close();
  }
}

function beginRead(database: SqliteDatabase): void {
  database.exec("BEGIN");
  database.exec("SELECT count(*) FROM plants");
}

it("stays below 100 MiB while 300 MiB are written and another process reads without a gap", async () => {
  const path = await createPath();
  const engine = await openEngine(path);
  const reader = new Reader(path);
  onTestFinished(() => reader.close());
  let written = 0;
  let longest = 0;
  for (let version = 0; written < 300 * mebibyte; version++) {
    // The same twenty plants of a quarter of a mebibyte. Each version changes every page.
    const requests = Array.from({ length: 20 }, (_, id): CreateEntry => {
      const name = `${version % 10}`.repeat(mebibyte / 4);
      return { plant: { id: BigInt(id), name }, onConflict: "replace" };
    });
    await engine.commit(requests);
    reader.readOn();
    // Reads of the engine wait for the checkpoint after a commit, and the second one for the restart that may follow. Without them, the
    // length of the log would depend on the speed of the disk.
    await engine.get(0n);
    await engine.get(0n);
    written += 5 * mebibyte;
    longest = Math.max(longest, (await stat(`${path}-wal`)).size);
  }
  expect(longest).toBeGreaterThan(20 * mebibyte);
  expect(longest).toBeLessThan(100 * mebibyte);
});
