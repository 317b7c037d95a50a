/** Ports of a plant store: for the server, for the engine of a database, and for backups of its file. */
import type { ContractOperationId } from "./contract.ts";
import { isError } from "./messages.ts";
import type { NewPlant } from "./plant.ts";

/** Policies for a create whose id belongs to a different plant ("plantstore help contract"). */
export const conflictPolicies = ["reject", "replace"] as const;

/** One of {@link conflictPolicies}. */
export type ConflictPolicy = (typeof conflictPolicies)[number];

/** Where the plants of a store are: in the process that opens it, in a file, or in a database that servers share. */
export type StoreKind = "memory" | "file" | "database";

/** Result of a create that succeeded. */
export type SuccessfulResult = "created" | "unchanged" | "replaced";

/** Result of a change; after `conflict` and `absent`, the store is as before. */
export type ChangeResult = SuccessfulResult | "conflict" | "deleted" | "absent";

/** The result of a change, once it is durable. */
export interface Committed<Result extends ChangeResult> {
  readonly result: Result;
  /** In milliseconds of `performance.now()`. */
  readonly durableAtMs: number;
  /** Time for which the change waited for its commit, in milliseconds. */
  readonly waitMs: number;
  /** Number of plants in the commit. */
  readonly plants: number;
}

/** A create in a commit. */
export interface CreateEntry {
  readonly kind: "create";
  readonly plant: NewPlant;
  readonly onConflict: ConflictPolicy;
}

/** A change in a commit. */
export type CommitEntry = CreateEntry | { readonly kind: "delete"; readonly id: bigint };

/** A stored token, which never includes the token itself. */
export interface TokenRecord {
  /** SHA-256 of the token, in lower-case hexadecimal. */
  readonly digest: string;
  /** First characters of the token, so that its owner recognises it. */
  readonly prefix: string;
  /** Chosen by its owner; empty if it has none. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly issuedAtMs: number;
  /** Milliseconds since the epoch, exclusive. Absent if it never expires. */
  readonly expiresAtMs?: number | undefined;
  /** Milliseconds since the epoch. Absent if it is not revoked. */
  readonly revokedAtMs?: number | undefined;
  /** Last day of use: days since the epoch, in UTC. Absent if no use was recorded. */
  readonly lastUsedDay?: number | undefined;
  /** The operations that it may ask for. Absent if it may ask for all. */
  readonly allow?: readonly ContractOperationId[] | undefined;
}

/** The tokens of a store at a time. */
export interface TokenState {
  /** Differs after each change of the tokens; a recorded use is not a change. */
  readonly version: string;
  /** Every token, including revoked and expired ones; absent if they have the version that the caller knows. */
  readonly tokens?: readonly TokenRecord[] | undefined;
}

export type EndedToken = Pick<TokenRecord, "digest" | "expiresAtMs" | "revokedAtMs">;

export interface PlantFilter {
  /** Selects only plants with a larger id. */
  readonly after?: bigint | undefined;
  /** Selects only plants with exactly this tag. */
  readonly tag?: string | undefined;
}

export interface PlantQuery extends PlantFilter {
  /** Maximum number of plants; at least 1, or infinite. */
  readonly limit: number;
}

interface StoreParts {
  get(id: bigint): Promise<NewPlant | undefined>;
  /** Resolves with the first plants in the order of their ids, at most a page of them (see store/pages.ts). */
  list(query: PlantQuery): Promise<readonly NewPlant[]>;
  count(filter: PlantFilter): Promise<number>;
  /** Resolves if a create could be stored now; rejects with the reason otherwise. */
  checkWritable(): Promise<void>;
  /** Stores a token durably. Does not change a stored token with the same digest. */
  addToken(token: TokenRecord): Promise<void>;
  /** Resolves with every token, including revoked and expired ones, oldest first. */
  listTokens(): Promise<readonly TokenRecord[]>;
  /** Resolves with the tokens if they do not have the known version. */
  readTokens(knownVersion: string | undefined): Promise<TokenState>;
  /** Ends a token durably at the given times; earlier times that are stored already stay. */
  endToken(token: EndedToken): Promise<void>;
  /** Records the day on which tokens were used; an earlier day changes nothing. Not durable. */
  recordTokenUse(digests: readonly string[], day: number): Promise<void>;
  /** Removes all plants, and no token. Only stores in memory have it. */
  clear?(): Promise<void>;
  /** Closes it after all accepted calls have ended. May be called twice. */
  close(): Promise<void>;
}

/** A durable store of plants and tokens. Its methods reject with a {@link StoreError}. */
export interface PlantStore extends StoreParts {
  readonly kind?: StoreKind;
  /** Resolves once the result would survive a power failure (contract.md "Durability"). */
  create(
    plant: NewPlant,
    onConflict: ConflictPolicy,
  ): Promise<Committed<SuccessfulResult> | Committed<"conflict">>;
  /** Deletes a plant together with the changes that arrive at the same time. Resolves as {@link PlantStore.create} does. */
  deletePlant(id: bigint): Promise<Committed<"deleted"> | Committed<"absent">>;
  /**
   * Deletes plants together, and removes their text where the engine can. Resolves once the deletions are durable.
   *
   * @returns the ids that were deleted, without the unknown ones
   */
  delete(ids: readonly bigint[]): Promise<readonly bigint[]>;
  /** As `list`, but does not wait for changes that are not committed yet. Every plant that it shows is durable. */
  listCommitted(query: PlantQuery): Promise<readonly NewPlant[]>;
}

export type StoreReader = Pick<PlantStore, "get" | "list" | "count" | "listTokens" | "close">;

/**
 * The part of a store that depends on the database. At most {@link StoreEngine.maxCommits} commits are in flight; all other
 * calls may run at the same time. `close` is the last call.
 */
export interface StoreEngine extends StoreParts {
  /** Maximum number of commits in flight; the engine carries them out in their order. Default: 1. */
  readonly maxCommits?: number;
  /**
   * Carries out changes in their order and flushes them together. When it resolves, all of them are durable; when it
   * rejects, all of them may be stored or none. The results `unchanged`, `conflict` and `absent` are as durable as the others.
   *
   * @returns the results, in the order of the entries
   */
  commit(entries: readonly CommitEntry[]): Promise<readonly ChangeResult[]>;
  /** As `list`, once all that it shows is durable. Absent if `list` shows nothing else. */
  listDurable?(query: PlantQuery): Promise<readonly NewPlant[]>;
  /** Removes the text of deleted plants from the log, unless others read it. Absent without such a log. */
  emptyLog?(): Promise<void>;
}

export interface EngineOptions {
  /** Rejects a missing store instead of creating it. Default: false. */
  readonly mustExist?: boolean;
  /** Receives warnings for the operator. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** How a long operation on files is watched and stopped. */
interface FileWork {
  /** Removes what was written so far at once. An engine that cannot be stopped continues: end the process. */
  readonly signal: AbortSignal;
  /** Called before the copy starts, with a function that returns its size so far in bytes. */
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
  /** Called when the backup is sound, before the store is opened. */
  readonly onChecked?: () => void;
  /** Called when the store was replaced, before the last files are closed. */
  readonly onReplaced: () => void;
}

export interface Restore extends Backup {
  /** Path of the store before it; absent if there was none. */
  readonly oldPath?: string | undefined;
}

/**
 * Reasons for a failure of the store. The plant of a failed create may or may not be stored.
 *
 * - `full`: the disk is full, or files of the store are missing. Works again once that is fixed
 * - `readOnly`: the file of the store cannot be written. Works again once that is fixed
 * - `busy`: locked by others for too long, or unreachable
 * - `closed`: `close()` was called
 * - `unusable`: cannot be opened until the operator fixes it
 * - `damaged`: its file is damaged: only a backup helps
 * - `failed`: anything else
 */
export type StoreErrorReason =
  | "full"
  | "readOnly"
  | "busy"
  | "closed"
  | "unusable"
  | "damaged"
  | "failed";

/** A failure of the store. Its message may contain paths: it is for the operator, never for a client. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly reason: StoreErrorReason;
  /** A line for a shell that may fix it. */
  readonly command: string | undefined;

  constructor(
    reason: StoreErrorReason,
    message: string,
    { command, ...options }: ErrorOptions & { readonly command?: string | undefined } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.command = command;
  }
}

/** Does work with a store or a connection to one, and always closes it. */
export async function useAndClose<Store extends Pick<StoreParts, "close">, T>(
  store: Store,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Checks whether an error says that the process, or the machine, has too many open files to open a store. */
export function hasTooManyFiles(error: unknown): boolean {
  // The error of a thread or a module that cannot be loaded has the reason only in its message.
  return isError(error) && /\bE[MN]FILE\b|too many open files/.test(error.message);
}

/** Sentence about the problem that {@link hasTooManyFiles} finds, with its solution. */
export const tooManyFiles =
  "this process has too many open files: raise its limit, for example with ulimit -n or LimitNOFILE= of systemd";
