/** Turns an engine into a store: changes that arrive together share one commit, and so one flush of the disk. */
// Not the global functions, which tests may replace with fakes.
import { clearImmediate, setImmediate } from "node:timers";
import { toTextLength } from "../core/plant.ts";
import {
  type ChangeResult,
  type CommitEntry,
  type Committed,
  type PlantStore,
  type StoreEngine,
  StoreError,
} from "../core/store.ts";

/** Receives the size and the duration of each successful commit; it must not throw. */
export type CommitListener = (plants: number, durationMs: number) => void;

/** Maximum number of changes in one commit. Larger commits would delay other writers of the same store. */
const maxBatch = 1000;

/**
 * Maximum number of characters in the names and tags of one commit, unless a single plant has more. Without it, a
 * thousand plants of the maximum size would take a gigabyte, in memory and in the write-ahead log of the engine.
 */
const maxBatchText = 2 ** 22;

/**
 * Number of changes from which a batch waits for no turn of the event loop, nor for a commit in flight if the engine allows
 * several. A turn with many connections takes milliseconds, in which the engine can already work. At 64 connections, sending
 * early brings a third more creates, and the second commit in flight another fifth.
 */
const eagerBatch = 32;

/** Changes that share a commit. */
interface Batch {
  readonly entries: CommitEntry[];
  textLength: number;
  readonly results: Promise<readonly ChangeResult[]>;
  readonly resolve: (results: readonly ChangeResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates a store on an engine.
 *
 * This is the only place that orders commits. The last batch in the queue accepts changes. While no commit is in flight, the
 * first batch is sent at the end of a turn of the event loop that adds no further change to it. Node accepts one connection in
 * a turn: without this wait, clients that close theirs after each create take 30 to 60 % more CPU time. A large batch is sent
 * earlier (see {@link eagerBatch}). A failed commit rejects every change in its batch. A single plant cannot make a commit fail.
 *
 * Reads, `delete` and `clear` wait for every change that was accepted before them. Other calls do not wait for commits.
 *
 * @param onCommit is called after each successful commit
 */
export function createGroupCommitStore(engine: StoreEngine, onCommit?: CommitListener): PlantStore {
  const { maxCommits = 1 } = engine;
  const queue: Batch[] = [];
  const otherCalls = new Set<Promise<unknown>>();
  let commitsInFlight = 0;
  let endOfTurn: NodeJS.Immediate | undefined;
  let lastCommit: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** Puts a change into the last batch. */
  function enqueue<Result extends ChangeResult>(entry: CommitEntry): Promise<Committed<Result>> {
    if (closed !== undefined) return rejectClosed();
    const acceptedAtMs = performance.now();
    const textLength = entry.kind === "create" ? toTextLength(entry.plant) : 0;
    let batch = queue.at(-1);
    if (batch === undefined || hasNoRoom(batch, textLength)) {
      batch = createBatch();
      queue.push(batch);
      lastCommit = batch.results.catch(() => undefined);
    }
    batch.textLength += textLength;
    const index = batch.entries.push(entry) - 1;
    commitWhenDue();
    return batch.results.then((results) => {
      const result = results[index];
      if (result === undefined) throw new StoreError("failed", "the engine left out a change");
      const durableAtMs = performance.now();
      const waitMs = durableAtMs - acceptedAtMs;
      return { result: result as Result, durableAtMs, waitMs, plants: results.length };
    });
  }

  const firstLength = (): number => queue[0]?.entries.length ?? 0;

  /** Sends the first batch now if it is large, otherwise at the end of a turn that does not add to it. */
  function commitWhenDue(): void {
    const length = firstLength();
    if (length >= eagerBatch) {
      if (commitsInFlight < maxCommits) commitFirst();
    } else if (length > 0 && commitsInFlight === 0) endOfTurn ??= setImmediate(onEndOfTurn, length);
  }

  function onEndOfTurn(lengthBefore: number): void {
    endOfTurn = undefined;
    if (firstLength() > lengthBefore) commitWhenDue();
    else commitFirst();
  }

  function commitFirst(): void {
    clearImmediate(endOfTurn);
    endOfTurn = undefined;
    const batch = queue.shift();
    if (batch !== undefined) void commit(batch);
  }

  async function commit({ entries, resolve, reject }: Batch): Promise<void> {
    commitsInFlight++;
    const startedAtMs = performance.now();
    let settle: () => void;
    try {
      const results = await engine.commit(entries);
      onCommit?.(entries.length, performance.now() - startedAtMs);
      settle = () => resolve(results);
    } catch (error) {
      settle = () => reject(error);
    }
    commitsInFlight--;
    // A large commit starts before the callers of this one continue, because they may keep the thread busy.
    commitWhenDue();
    settle();
  }

  function accept<T>(call: () => Promise<T>): Promise<T> {
    if (closed !== undefined) return rejectClosed();
    const result = call();
    const forget = (): void => void otherCalls.delete(ended);
    const ended: Promise<void> = result.then(forget, forget);
    otherCalls.add(ended);
    return result;
  }

  async function deleteAll(ids: readonly bigint[]): Promise<readonly bigint[]> {
    const results = await engine.commit(ids.map((id) => ({ kind: "delete", id })));
    await engine.emptyLog?.();
    return ids.filter((_, index) => results[index] === "deleted");
  }

  async function close(): Promise<void> {
    await Promise.all([lastCommit, ...otherCalls]);
    await engine.close();
  }

  return {
    create: (plant, onConflict) => enqueue({ kind: "create", plant, onConflict }),
    deletePlant: (id) => enqueue({ kind: "delete", id }),
    listCommitted: (query) => accept(() => engine.listDurable?.(query) ?? engine.list(query)),
    get: (id) => accept(() => lastCommit.then(() => engine.get(id))),
    list: (query) => accept(() => lastCommit.then(() => engine.list(query))),
    count: (filter) => accept(() => lastCommit.then(() => engine.count(filter))),
    checkWritable: () => accept(() => engine.checkWritable()),
    addToken: (token) => accept(() => engine.addToken(token)),
    listTokens: () => accept(() => engine.listTokens()),
    readTokens: (knownVersion) => accept(() => engine.readTokens(knownVersion)),
    endToken: (token) => accept(() => engine.endToken(token)),
    recordTokenUse: (digests, day) => accept(() => engine.recordTokenUse(digests, day)),
    delete: (ids) => accept(() => lastCommit.then(() => deleteAll(ids))),
    ...(engine.clear && {
      clear: () => accept(() => lastCommit.then(() => engine.clear?.())),
    }),
    close: () => (closed ??= close()),
  };
}

function rejectClosed(): Promise<never> {
  return Promise.reject(new StoreError("closed", "the store is closed"));
}

function createBatch(): Batch {
  let resolve: Batch["resolve"] = () => undefined;
  let reject: Batch["reject"] = () => undefined;
  const results = new Promise<readonly ChangeResult[]>((...settlers) => {
    [resolve, reject] = settlers;
  });
  return { entries: [], textLength: 0, results, resolve, reject };
}

function hasNoRoom({ entries, textLength }: Batch, more: number): boolean {
  return entries.length === maxBatch || textLength + more > maxBatchText;
}
