/** Opens, backs up, verifies and restores the store of a URL. */
import { type PlantStore, StoreError } from "../core/store.ts";
import { type CommitListener, createGroupCommitStore } from "./group-commit.ts";
import type { MemoryPlantsOptions } from "./memory-plants.ts";
import { createMemoryEngine } from "./memory.ts";
import type {
  Backup,
  BackupOptions,
  EngineOptions,
  FileOperation,
  Restore,
  RestoreOptions,
  StoreContents,
  StoreFiles,
  StoreLocation,
} from "./store-location.ts";
import { isStoreUrl, parseStoreUrl, toFileUrl } from "./store-url.ts";

/** Options for {@link openStore}. */
export interface OpenStoreOptions extends EngineOptions {
  /** Is called after each successful commit. */
  readonly onCommit?: CommitListener | undefined;
}

/**
 * Opens a store, and creates it if it is missing.
 *
 * @throws StoreError mostly `unusable`; its message is one line with the problem, the URL and how to fix it
 */
export async function openStore(
  url: string,
  { onCommit, ...options }: OpenStoreOptions = {},
): Promise<PlantStore> {
  const location = parseStoreUrl(url);
  const store = createGroupCommitStore(await location.openEngine(options), onCommit);
  return { ...store, isVolatile: location.isVolatile };
}

/** Creates a store in memory. @param onCommit is called after each successful commit */
export function createMemoryStore(
  options?: MemoryPlantsOptions,
  onCommit?: CommitListener,
): PlantStore {
  const store = createGroupCommitStore(createMemoryEngine(options), onCommit);
  return { ...store, isVolatile: true };
}

/** Copies a store to a file while others write to it. @throws StoreError */
export async function backupStore(
  url: string,
  path: string,
  options: BackupOptions,
): Promise<Backup> {
  const files = findFiles(parseStoreUrl(url), "back up");
  return files.backUp(findPath(path, "back up"), options);
}

/**
 * Checks a store or a backup, and changes nothing.
 *
 * @param path of a file, or a URL
 * @throws StoreError
 */
export async function verifyStore(path: string): Promise<StoreContents> {
  return findFiles(locateFile(path), "verify").verify();
}

/** Replaces a store with a copy of a backup. @throws StoreError */
export async function restoreStore(
  path: string,
  url: string,
  options: RestoreOptions,
): Promise<Restore> {
  const backup = findPath(path, "restore");
  return findFiles(parseStoreUrl(url), "restore").restore(backup, options);
}

/** Accepts the URL of a store that is a file instead of a path. @throws StoreError for any other URL */
function findPath(text: string, operation: FileOperation): string {
  const location = locateFile(text);
  findFiles(location, operation);
  return location.path ?? text;
}

/** Finds the store of a URL, or the one in a file. @throws StoreError */
function locateFile(text: string): StoreLocation {
  if (text === "-" || text === "") {
    const message = `"${text}" is not possible here: name a file, such as plants.backup`;
    throw new StoreError("unusable", message);
  }
  return parseStoreUrl(isStoreUrl(text) ? text : toFileUrl(text));
}

/** @throws StoreError that explains why an operation on files is not possible */
function findFiles({ files }: StoreLocation, operation: FileOperation): StoreFiles {
  if (typeof files === "object") return files;
  throw new StoreError("unusable", files(operation));
}
