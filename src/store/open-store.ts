/** Opens, backs up, verifies and restores the store of a URL. */
import { type PlantStore, StoreError, type StoreReader } from "../core/store.ts";
import { type CommitListener, createGroupCommitStore } from "./group-commit.ts";
import type { StoreContents } from "./sqlite/backup-worker.ts";
import type { Backup, BackupOptions, FileWork, Restore, RestoreOptions } from "./sqlite/backup.ts";
import type { EngineOptions, FileOperation } from "./store-location.ts";
import { isStoreUrl, parseStoreUrl } from "./store-url.ts";

/** Options for {@link openStore}. */
export interface OpenStoreOptions extends EngineOptions {
  /** Is called after each successful commit. */
  readonly onCommit?: CommitListener | undefined;
}

/**
 * Opens a store, and creates it if it is missing.
 *
 * @param url `sqlite:PATH`, `postgres://…` or `memory:`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStore(
  url: string,
  { onCommit, ...options }: OpenStoreOptions = {},
): Promise<PlantStore> {
  const location = parseStoreUrl(url);
  const store = createGroupCommitStore(await location.openEngine(options), onCommit);
  return { ...store, isVolatile: location.isVolatile };
}

/**
 * Opens an existing store to read. Nothing is created or changed, and others may write to it meanwhile.
 *
 * @param url `sqlite:PATH` or `postgres://…`
 * @throws StoreError mostly `unusable`; its message is one line with the problem, its place and how to fix it
 */
export async function openStoreReader(url: string): Promise<StoreReader> {
  return parseStoreUrl(url).openReader({});
}

export type { FileWork };

/**
 * Copies a store to a file while others write to it.
 *
 * @throws StoreError
 */
export async function backupStore(
  url: string,
  path: string,
  options: BackupOptions,
): Promise<Backup> {
  const store = toFile(url, "back up");
  const { backupSqliteFile } = await import("./sqlite/backup.ts");
  return backupSqliteFile(store, toPath(path, "back up"), options);
}

/**
 * Checks a store or a backup, and changes nothing.
 *
 * @param path of a file
 * @throws StoreError
 */
export async function verifyStore(path: string): Promise<StoreContents> {
  const file = toPath(path, "verify");
  const { verifySqliteFile } = await import("./sqlite/backup.ts");
  return verifySqliteFile(file);
}

/**
 * Replaces a store with a copy of a backup.
 *
 * @throws StoreError
 */
export async function restoreStore(
  path: string,
  url: string,
  options: RestoreOptions,
): Promise<Restore> {
  const backup = toPath(path, "restore");
  const store = toFile(url, "restore");
  const { restoreSqliteFile } = await import("./sqlite/backup.ts");
  return restoreSqliteFile(backup, store, options);
}

/** Accepts the URL of a store that is a file instead of a path. */
function toPath(text: string, operation: FileOperation): string {
  if (text === "-" || text === "") {
    const message = `"${text}" is not possible here: name a file, such as plants.backup`;
    throw new StoreError("unusable", message);
  }
  return isStoreUrl(text) ? toFile(text, operation) : text;
}

function toFile(url: string, operation: FileOperation): string {
  const location = parseStoreUrl(url);
  if (location.path !== undefined) return location.path;
  throw new StoreError("unusable", location.explainNoFile(operation));
}
