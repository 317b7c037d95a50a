/** Ids in ascending order, for an engine that keeps its plants in memory. */

/** Maximum number of ids in a chunk: an insertion moves at most as many. */
const maxChunk = 1024;

/** A set of ids in ascending order. Adding or deleting one of a million takes microseconds. */
export class SortedIds {
  /** Ascending; none is empty. */
  #chunks: bigint[][] = [];

  /** Adds an id that is not in the set. */
  add(id: bigint): void {
    // Ids beyond the last chunk extend it, so that ascending ids move nothing.
    const index = Math.min(this.#findChunk(id), this.#chunks.length - 1);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([id]);
      return;
    }
    chunk.splice(countUpTo(chunk, id), 0, id);
    if (chunk.length > maxChunk) this.#chunks.splice(index + 1, 0, chunk.splice(maxChunk / 2));
  }

  /** Removes an id that is in the set. */
  delete(id: bigint): void {
    const index = this.#findChunk(id);
    const chunk = this.#chunks[index] ?? [];
    chunk.splice(countUpTo(chunk, id) - 1, 1);
    if (chunk.length === 0) this.#chunks.splice(index, 1);
  }

  clear(): void {
    this.#chunks = [];
  }

  /** Returns the ids after one, or all, in ascending order. The set must not change meanwhile. */
  *after(id: bigint | undefined): Generator<bigint, void, undefined> {
    const first = id === undefined ? 0 : this.#findChunk(id);
    for (let index = first; index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index] ?? [];
      const start = id === undefined || index > first ? 0 : countUpTo(chunk, id);
      for (let position = start; position < chunk.length; position++) {
        yield chunk[position] as bigint;
      }
    }
  }

  /** Returns the index of the first chunk that ends with this id or a larger one; their number if none does. */
  #findChunk(id: bigint): number {
    return findFirst(this.#chunks.length, (index) => (this.#chunks[index]?.at(-1) ?? id) >= id);
  }
}

/** Returns the number of ids up to and including this one. */
function countUpTo(ids: readonly bigint[], id: bigint): number {
  return findFirst(ids.length, (index) => (ids[index] ?? id) > id);
}

/** Returns the first index that passes a test, by bisection; `length` if none does. Those after it must pass too. */
function findFirst(length: number, isPassed: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPassed(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
