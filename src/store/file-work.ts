/** What a backup, a check and a restore of a store take and return. */

/** How a long operation on files is watched and stopped. */
interface FileWork {
  /** Removes what was written so far at once. An engine that cannot be stopped continues: end the process. */
  readonly signal: AbortSignal;
  /** Is called before the copy starts, with a function that returns its size so far in bytes. */
  readonly onCopy: (readSize: () => number) => void;
}

export interface BackupOptions extends FileWork {
  /** Replaces an existing file, or a store that has plants. */
  readonly isForced: boolean;
}

export interface Backup {
  /** Absolute. */
  readonly path: string;
  readonly plants: number;
  readonly bytes: number;
}

export interface StoreContents {
  readonly plants: number;
  readonly tokens: number;
  readonly version: number;
}

export interface RestoreOptions extends BackupOptions {
  /** Is called when the backup is sound, before the store is opened. */
  readonly onChecked?: () => void;
  /** Is called when the store was replaced, before the last files are closed. */
  readonly onReplaced: () => void;
}

export interface Restore extends Backup {
  /** Path of the store before it; absent if there was none. */
  readonly oldPath?: string | undefined;
}
