/** The engine on one SQLite file: one thread writes, another one does what would hold it up. */
import { resolve } from "node:path";
import type { StoreEngine } from "../../core/store.ts";
import { createCheckpointer } from "./checkpointer.ts";
import { createConnectionThread } from "./connection-thread.ts";
import { findDatabaseFile } from "./database-file.ts";
import { createDatabaseFile } from "./file-in-use.ts";

/**
 * Opens a SQLite file as a store; creates it, and the directories above it, when it is missing.
 *
 * @param path taken literally; absolute, or relative to the working directory
 * @param mustExist whether it is refused when it is missing
 * @throws StoreError
 */
export async function openSqliteEngine(path: string, mustExist = false): Promise<StoreEngine> {
  const absolutePath = resolve(path);
  if (mustExist) findDatabaseFile(absolutePath);
  const file = createDatabaseFile(absolutePath);
  const writer = createConnectionThread(file);
  const reader = createConnectionThread(file);
  const checkpointer = createCheckpointer(reader);
  await writer.open();
  file.noteLog();

  return {
    // While one is at work the next one waits on its thread, which need not wait for this one to send it.
    maxCommits: 2,
    async commit(requests) {
      const results = await writer.commit(requests);
      checkpointer.noteCommit(requests);
      return results;
    },
    get: (id) => reader.get(id),
    list: (query) => reader.list(query),
    checkWritable: () => writer.checkWritable(),
    addToken: (token) => writer.addToken(token),
    listTokens: () => writer.listTokens(),
    revokeToken: (digest, revokedAtMs) => writer.revokeToken(digest, revokedAtMs),
    noteTokenUses: (digests, day) => reader.noteTokenUses(digests, day),
    async close() {
      // One after the other: the last to go moves the log into the file, and of two at once neither is the last.
      await reader.close();
      await writer.close();
      file.leave();
    },
  };
}
