/** Turns an engine into a store: creates that come in together share one commit, and so one flush of the disk. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import {
  type CreateRequest,
  type CreateResult,
  type PlantStore,
  type StoreEngine,
  StoreError,
} from "../core/store.ts";

/** Creates in one commit; more of them would hold up other writers of the same store. */
const maxBatch = 1000;

/** Creates that share a commit; it takes more of them until its turn comes or it is full. */
interface Batch {
  readonly requests: CreateRequest[];
  readonly committed: Promise<readonly CreateResult[]>;
}

/**
 * A store on an engine. The engine gets one call at a time; the creates that arrive meanwhile form the next commit. A
 * lone create waits for nothing but the end of the event loop's turn, in which others may join it. A commit that fails
 * rejects all of its creates, for what ails a commit is never one plant, and no others.
 */
export function createGroupCommit(engine: StoreEngine): PlantStore {
  let lastCall: Promise<unknown> = Promise.resolve();
  let openBatch: Batch | undefined;
  let closed: Promise<void> | undefined;

  function inTurn<T>(call: () => Promise<T>): Promise<T> {
    const result = lastCall.then(call);
    lastCall = result.catch(() => undefined);
    return result;
  }

  async function accept<T>(call: () => Promise<T>): Promise<T> {
    if (closed !== undefined) throw new StoreError("closed", "the store is closed");
    return call();
  }

  function startBatch(): Batch {
    const requests: CreateRequest[] = [];
    const committed = inTurn(async () => {
      await endOfTurn();
      if (openBatch === batch) openBatch = undefined;
      return engine.commit(requests);
    });
    const batch = { requests, committed };
    return batch;
  }

  async function create(request: CreateRequest): Promise<CreateResult> {
    if (openBatch === undefined || openBatch.requests.length === maxBatch) openBatch = startBatch();
    const index = openBatch.requests.push(request) - 1;
    const result = (await openBatch.committed)[index];
    if (result === undefined) throw new StoreError("failed", "the engine left a create out");
    return result;
  }

  return {
    create: (plant, onConflict) => accept(() => create({ plant, onConflict })),
    get: (id) => accept(() => inTurn(() => engine.get(id))),
    list: (query) => accept(() => inTurn(() => engine.list(query))),
    checkWritable: () => accept(() => inTurn(() => engine.checkWritable())),
    addToken: (token) => accept(() => inTurn(() => engine.addToken(token))),
    listTokens: () => accept(() => inTurn(() => engine.listTokens())),
    close: () => (closed ??= inTurn(() => engine.close())),
  };
}
