/** Turns an engine into a store: creates that come in together share one commit, and so one flush of the disk. */
import {
  type CreateRequest,
  type CreateResult,
  type PlantStore,
  type StoreEngine,
  StoreError,
} from "../core/store.ts";
import { createCallQueue } from "./call-queue.ts";

/** Creates in one commit; more of them would hold up other writers of the same store. */
const maxBatch = 1000;

/**
 * Characters of names and tags in one commit, where a single create has no more: a thousand of the largest plants would
 * be a gigabyte, here and in the engine's log.
 */
const maxBatchText = 2 ** 22;

/**
 * Creates for which an idle engine begins before the turn has ended, and one that takes two commits before it is done with
 * the first. With many connections a turn takes milliseconds, in which the engine is better at work: at 64 connections
 * the one brings a third more creates, and the other a fifth more than that.
 */
const eagerBatch = 32;

/** Creates that share a commit; it takes more of them until its turn comes or it is full. */
interface Batch {
  readonly requests: CreateRequest[];
  textLength: number;
  readonly committed: Promise<readonly CreateResult[]>;
}

/**
 * A store on an engine. Commits and changes of tokens go to the engine one at a time; the creates that arrive meanwhile
 * form the next commit, which begins as soon as that one has ended, or, when it has become large and the engine takes
 * several, beside it. A lone create waits for nothing but the end of the event loop's turn, in which others may join it.
 * A commit that fails rejects all of its creates, for what ails a commit is never one plant, and no others. A read sees
 * every create that was accepted before it, and holds up none that comes after it. Whether it can be written, and by
 * whom, is asked beside all that: who has to know must not wait for a database that is down once more for each commit.
 * Nor does a commit wait for a note of who wrote.
 */
export function createGroupCommit(engine: StoreEngine): PlantStore {
  const queue = createCallQueue(engine.maxCommits ?? 1);
  const others = new Set<Promise<unknown>>();
  let lastWrite: Promise<unknown> = Promise.resolve();
  let openBatch: Batch | undefined;
  let closed: Promise<void> | undefined;

  function accept<T>(call: () => Promise<T>): Promise<T> {
    if (closed === undefined) return call();
    return Promise.reject(new StoreError("closed", "the store is closed"));
  }

  function write<T>(call: () => Promise<T>, mayOverlap = false): Promise<T> {
    const written = queue.add(call, mayOverlap);
    lastWrite = written.catch(() => undefined);
    return written;
  }

  function beside<T>(result: Promise<T>): Promise<T> {
    const forget = (): void => void others.delete(ended);
    const ended: Promise<void> = result.then(forget, forget);
    others.add(ended);
    return result;
  }

  function read<T>(call: () => Promise<T>): Promise<T> {
    return beside(lastWrite.then(call));
  }

  function startBatch(): Batch {
    const requests: CreateRequest[] = [];
    const committed = write(() => {
      if (openBatch === batch) openBatch = undefined;
      return engine.commit(requests);
    }, true);
    const batch = { requests, textLength: 0, committed };
    return batch;
  }

  function create(request: CreateRequest): Promise<CreateResult> {
    const { name, tag = "" } = request.plant;
    const textLength = name.length + tag.length;
    if (openBatch === undefined || isFull(openBatch, textLength)) openBatch = startBatch();
    const { requests, committed } = openBatch;
    openBatch.textLength += textLength;
    const index = requests.push(request) - 1;
    if (requests.length === eagerBatch) queue.hurry();
    return committed.then((results) => {
      const result = results[index];
      if (result === undefined) throw new StoreError("failed", "the engine left a create out");
      return result;
    });
  }

  return {
    create: (plant, onConflict) => accept(() => create({ plant, onConflict })),
    get: (id) => accept(() => read(() => engine.get(id))),
    list: (query) => accept(() => read(() => engine.list(query))),
    checkWritable: () => accept(() => beside(engine.checkWritable())),
    addToken: (token) => accept(() => write(() => engine.addToken(token))),
    listTokens: () => accept(() => beside(engine.listTokens())),
    revokeToken: (digest, revokedAtMs) =>
      accept(() => write(() => engine.revokeToken(digest, revokedAtMs))),
    noteTokenUses: (digests, day) => accept(() => beside(engine.noteTokenUses(digests, day))),
    close: () =>
      (closed ??= write(async () => {
        await Promise.all(others);
        await engine.close();
      })),
  };
}

function isFull({ requests, textLength }: Batch, more: number): boolean {
  return requests.length === maxBatch || textLength + more > maxBatchText;
}
