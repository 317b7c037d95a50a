/** Opens, backs up, verifies and restores the store of a URL. */
import {
  type Backup,
  type BackupOptions,
  type EngineOptions,
  type PlantStore,
  type Restore,
  type RestoreOptions,
  type StoreContents,
  StoreError,
} from "../core/store.ts";
import { type CommitListener, createGroupCommitStore } from "./group-commit.ts";
import { createMemoryEngine, type MemoryPlantsOptions } from "./memory.ts";
import { type FileOperation, isStoreUrl, parseStoreUrl, toFileUrl } from "./store-url.ts";

/**
 * Opens a store, and creates it if it is missing.
 *
 * @throws StoreError mostly `unusable`; its message is one line with the problem, the URL and how to fix it
 */
export async function openStore(
  url: string,
  { onCommit, ...options }: EngineOptions & { readonly onCommit?: CommitListener | undefined } = {},
): Promise<PlantStore> {
  const location = parseStoreUrl(url);
  const store = createGroupCommitStore(await location.openEngine(options), onCommit);
  return { ...store, kind: location.kind };
}

/** Creates a store in memory. @param onCommit is called after each successful commit */
export function createMemoryStore(
  options?: MemoryPlantsOptions,
  onCommit?: CommitListener,
): PlantStore {
  const store = createGroupCommitStore(createMemoryEngine(options), onCommit);
  return { ...store, kind: "memory" };
}

/** Copies a store to a file while others write to it. @throws StoreError */
export async function backupStore(
  url: string,
  path: string,
  options: BackupOptions,
): Promise<Backup> {
  const [store, target] = [parseFilePath(url, "back up"), parseFilePath(path, "back up")];
  return (await import("./sqlite/backup.ts")).backupSqliteFile(store, target, options);
}

/** Checks a store or a backup, named by a path or a URL, and changes nothing. @throws StoreError */
export async function verifyStore(path: string): Promise<StoreContents> {
  const store = parseFilePath(path, "verify");
  return (await import("./sqlite/backup.ts")).verifySqliteFile(store);
}

/** Replaces a store with a copy of a backup. @throws StoreError */
export async function restoreStore(
  path: string,
  url: string,
  options: RestoreOptions,
): Promise<Restore> {
  const [backup, store] = [parseFilePath(path, "restore"), parseFilePath(url, "restore")];
  return (await import("./sqlite/backup.ts")).restoreSqliteFile(backup, store, options);
}

/** Parses the path of a file, or the URL of a store that is one. @throws StoreError for any other URL */
function parseFilePath(text: string, operation: FileOperation): string {
  if (text === "-" || text === "") {
    const message = `"${text}" is not possible here: name a file, such as plants.backup`;
    throw new StoreError("unusable", message);
  }
  const { backup } = parseStoreUrl(isStoreUrl(text) ? text : toFileUrl(text));
  if ("sqliteFile" in backup) return backup.sqliteFile;
  throw new StoreError("unusable", backup.explainInstead(operation));
}
