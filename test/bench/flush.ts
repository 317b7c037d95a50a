/** How long this disk takes to flush a little: what a durable create of a lone client cannot do without. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { withDirectory } from "./rounds.ts";
import { type Spread, toSpread } from "./statistics.ts";

const flushes = 300;
/** A page of SQLite, which is what a create of one plant adds to the log. */
const page = Buffer.alloc(4096, 1);

/** Measures the milliseconds from a write of 4 KiB to the end of its fsync, in a directory next to those of the stores. */
export async function measureFlush(): Promise<Spread> {
  return withDirectory(async (directory) => {
    const file = openSync(join(directory, "flushed"), "w");
    try {
      const times = Array.from({ length: flushes }, () => {
        const startedAt = performance.now();
        writeSync(file, page);
        fsyncSync(file);
        return performance.now() - startedAt;
      });
      return toSpread(times);
    } finally {
      closeSync(file);
    }
  });
}
