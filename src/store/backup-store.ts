/** Backs up, verifies and restores the store that a URL names. Only SQLite stores are files. */
import { StoreError } from "../core/store.ts";
import type { Backup, BackupOptions, FileWork } from "./sqlite/backup.ts";
import type { Restore, RestoreOptions } from "./sqlite/restore.ts";
import type { StoreContents } from "./sqlite/whole-file.ts";
import { parseStoreUrl, type StoreLocation } from "./store-url.ts";

export type { FileWork };

type Operation = "back up" | "verify" | "restore";

/** Commands of PostgreSQL that do the same. They read PGHOST, PGUSER, PGPASSWORD and PGDATABASE. */
const postgresAdvice: Readonly<Record<Operation, string>> = {
  "back up":
    'use "pg_dump --format=custom --file=plants.dump DATABASE", or continuous archiving (pg_basebackup and archive_command)',
  verify:
    'use "pg_restore --list plants.dump" for a dump, "pg_verifybackup" for a base backup, and "pg_amcheck" for a database',
  restore:
    'stop the servers, then use "pg_restore --clean --if-exists --single-transaction --dbname=DATABASE plants.dump"',
};

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
 * Puts a copy of a backup in the place of a store.
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

/** Accepts the URL of a SQLite store instead of a path. */
function toPath(text: string, operation: Operation): string {
  if (text === "-" || text === "") {
    const message = `"${text}" is not possible here: name a file, such as plants.backup`;
    throw new StoreError("unusable", message);
  }
  return /^(?:sqlite|postgres|postgresql|memory):/.test(text) ? toFile(text, operation) : text;
}

function toFile(url: string, operation: Operation): string {
  const location: StoreLocation = parseStoreUrl(url);
  switch (location.engine) {
    case "sqlite":
      return location.path;
    case "postgres":
      throw new StoreError(
        "unusable",
        `plantstore can ${operation} only SQLite stores. For PostgreSQL, ${postgresAdvice[operation]}`,
      );
    case "memory":
      throw new StoreError(
        "unusable",
        `plantstore cannot ${operation} a memory: store, which exists only inside its server process`,
      );
  }
}
