/** Declarations of an engine: its URLs, and properties of its stores. Each engine has them in `location.ts` of its folder. */
import type { StoreEngine, StoreReader } from "../core/store.ts";
import type { Backup, BackupOptions, Restore, RestoreOptions } from "./sqlite/backup.ts";
import type { StoreContents } from "./sqlite/backup-worker.ts";

/** Options for {@link StoreLocation.openEngine}. */
export interface EngineOptions {
  /** Rejects a missing store instead of creating it. Default: false. */
  readonly mustExist?: boolean;
  /** Receives warnings for the operator, such as a second name of the file. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** An operation on the files of a store. */
export type FileOperation = "back up" | "verify" | "restore";

/** The operations of an engine whose backups are files. Its stores are files too. */
export interface StoreFiles {
  /** Copies the store to a file while others write to it. @throws StoreError */
  backUp(path: string, options: BackupOptions): Promise<Backup>;
  /** Checks the store, or a backup, and changes nothing. @throws StoreError */
  verify(): Promise<StoreContents>;
  /** Replaces the store with a copy of a backup. @throws StoreError */
  restore(backup: string, options: RestoreOptions): Promise<Restore>;
}

/** A store that a URL names. The engine itself is loaded when the store is opened. */
export interface StoreLocation {
  /** Names the store in messages, without secrets. */
  readonly place: string;
  /** Names the store in any working directory, without secrets. */
  readonly absoluteUrl: string;
  /** True if the plants exist only in the process that opens the store. */
  readonly isVolatile: boolean;
  /** True if servers on several machines can use the store. */
  readonly isShared: boolean;
  /** Opens the store to read and write; creates it if it is missing. @throws StoreError */
  openEngine(options: EngineOptions): Promise<StoreEngine>;
  /** Opens an existing store to read. @throws StoreError */
  openReader(): Promise<StoreReader>;
  /** Loads what the engine needs besides Node. @throws StoreError if that is missing */
  loadProvider?(): Promise<unknown>;
  /** The file that is the store; absolute, or relative to the working directory. Absent if it is not a file. */
  readonly path?: string;
  /** The operations on its files, or a function that explains why one is not possible, and what to do instead. */
  readonly files: StoreFiles | ((operation: FileOperation) => string);
}

/** An engine. */
export interface EngineType {
  /** The beginnings of its URLs, such as `sqlite:`. */
  readonly schemes: readonly string[];
  /** Form of its URLs, for help. */
  readonly form: string;
  /** Form and meaning of its URLs, for messages. */
  readonly usage: string;
  /** True if only the process that creates a store can open it. */
  readonly isPrivate: boolean;
  /** Finds the store of a URL with one of the schemes. @throws StoreError `unusable` for an invalid URL */
  locate(url: string): StoreLocation;
}
