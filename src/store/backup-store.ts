/** Backs up, verifies and restores the store that a URL names. Only SQLite stores are files. */
import { StoreError } from "../core/store.ts";
import type { Backup, BackupOptions, FileWork } from "./sqlite/backup.ts";
import type { Restore, RestoreOptions } from "./sqlite/restore.ts";
import type { StoreContents } from "./sqlite/whole-file.ts";
import type { FileOperation } from "./store-location.ts";
import { isStoreUrl, parseStoreUrl } from "./store-url.ts";

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
  const { restoreSqliteFile } = await import("./sqlite/restore.ts");
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
