/** Tells of the commits of an engine: how large they are and how long they take. */
import type { StoreEngine } from "../core/store.ts";

/** Is told of each commit that succeeded; it must not throw. */
export type CommitListener = (plants: number, durationMs: number) => void;

/** The same engine, whose commits are told of. */
export function observeCommits(engine: StoreEngine, onCommit: CommitListener): StoreEngine {
  return {
    ...(engine.maxCommits === undefined ? {} : { maxCommits: engine.maxCommits }),
    get: (id) => engine.get(id),
    list: (query) => engine.list(query),
    checkWritable: () => engine.checkWritable(),
    addToken: (token) => engine.addToken(token),
    revokeToken: (digest, revokedAtMs) => engine.revokeToken(digest, revokedAtMs),
    noteTokenUses: (digests, day) => engine.noteTokenUses(digests, day),
    listTokens: () => engine.listTokens(),
    close: () => engine.close(),
    async commit(requests) {
      const startedAtMs = performance.now();
      const results = await engine.commit(requests);
      onCommit(requests.length, performance.now() - startedAtMs);
      return results;
    },
  };
}
