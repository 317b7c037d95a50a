/** Declarations of an engine: its URLs, and properties of its stores. Each engine has them in `location.ts` of its folder. */
import type { StoreEngine, StoreReader } from "../core/store.ts";

/** Options for {@link StoreLocation.openEngine}. */
export interface EngineOptions {
  /** Rejects a missing store instead of creating it. Default: false. */
  readonly mustExist?: boolean;
  /** Receives warnings for the operator, such as an upgrade. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** How a long operation on files is watched and stopped. */
export interface FileWork {
  /** Removes what was written so far at once. An engine that cannot be stopped continues: end the process. */
  readonly signal: AbortSignal;
  /** Is called before the copy starts, with a function that returns its size so far in bytes. */
  readonly onCopy: (readSize: () => number) => void;
}

/** Options for {@link StoreFiles.backUp}. */
export interface BackupOptions extends FileWork {
  /** Replaces an existing file, or a store that has plants. */
  readonly isForced: boolean;
}

/** A finished backup. */
export interface Backup {
  /** Absolute. */
  readonly path: string;
  readonly plants: number;
  readonly bytes: number;
}

/** Contents of a store. */
export interface StoreContents {
  readonly plants: number;
  readonly tokens: number;
  /** Version of its schema. */
  readonly version: number;
  /** The first release of plantstore with this version, if there is one. */
  readonly release?: string | undefined;
}

/** Options for {@link StoreFiles.restore}. */
export interface RestoreOptions extends BackupOptions {
  /** Is called when the backup is sound, before the store is opened. */
  readonly onChecked?: () => void;
  /** Is called when the store was replaced, before the last files are closed. */
  readonly onReplaced: () => void;
}

/** A finished restore. */
export interface Restore extends Backup {
  /** Path of the store before it; absent if there was none. */
  readonly oldPath?: string | undefined;
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
  /** URL for messages, without secrets. */
  readonly url: string;
  /** URL that names the store in any working directory, without secrets. */
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
  /** Lists the files that have the contents of the store, with symbolic links resolved; some may be missing. */
  listFiles?(): Promise<readonly string[]>;
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
  /** Returns the URL of the store in a file. Absent if its stores are not files. */
  readonly toFileUrl?: (path: string) => string;
  /** Suggests a URL instead of a text that has none of the schemes, but probably means a store of this engine. */
  readonly suggest?: (text: string) => string | undefined;
  /** True if only the process that creates a store can open it. */
  readonly isPrivate: boolean;
  /** Finds the store of a URL with one of the schemes. @throws StoreError `unusable` for an invalid URL */
  locate(url: string): StoreLocation;
}
