/** Rounds of measurements, and a directory for each, for every part of the benchmark. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Does work in an empty directory, which is removed afterwards. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "plantstore-bench-"));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Runs measurements in turn, round after round, so that a slow phase of the machine affects all of them. Their order is
 * random, because the place in a round matters: one program in two places differed by 10 %.
 *
 * @returns the results of each measurement, in the order of the rounds
 */
export async function runRounds<T>(
  rounds: number,
  measures: readonly (() => Promise<T>)[],
): Promise<T[][]> {
  const results = measures.map((): T[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const turns = measures.map((measure, index) => ({ measure, index, rank: Math.random() }));
    for (const { measure, index } of turns.toSorted((a, b) => a.rank - b.rank)) {
      results[index]?.push(await measure());
    }
  }
  return results;
}
