/** The ports of a plant store: what the server needs, and what an engine has to give. No engine is named here. */
import type { NewPlant } from "./plant.ts";

/** What a create of an id may do that belongs to a different plant (CONTRACT "The same id again"). */
export const conflictPolicies = ["reject", "replace"] as const;

/** One of {@link conflictPolicies}. */
export type ConflictPolicy = (typeof conflictPolicies)[number];

/** What became of a create; `conflict` stored nothing. */
export type CreateResult = "created" | "unchanged" | "replaced" | "conflict";

/** One create, as an engine commits it. */
export interface CreateRequest {
  readonly plant: NewPlant;
  readonly onConflict: ConflictPolicy;
}

/** A token as it is stored: never the token itself. */
export interface TokenRecord {
  /** SHA-256 of the token, in lower-case hexadecimal. */
  readonly digest: string;
  /** The beginning of the token, by which its owner knows it. */
  readonly prefix: string;
  /** For its owner; empty: none. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly issuedAtMs: number;
  /** Milliseconds since the epoch, exclusive; absent: never. */
  readonly expiresAtMs?: number | undefined;
  /** Milliseconds since the epoch; absent: not revoked. */
  readonly revokedAtMs?: number | undefined;
  /** The last day on which it was used: days since the epoch, in UTC; absent: never, as far as was noted. */
  readonly lastUsedDay?: number | undefined;
}

/** Which plants to list. */
export interface PlantQuery {
  /** Only plants with a larger id. */
  readonly afterId?: bigint | undefined;
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** The most plants to return; at least 1. */
  readonly limit: number;
}

interface StoreParts {
  /** The stored plant of this id. */
  get(id: bigint): Promise<NewPlant | undefined>;
  /** Plants in the order of their ids. */
  list(query: PlantQuery): Promise<readonly NewPlant[]>;
  /** Resolves when a create could be stored now; rejects with what is in the way. */
  checkWritable(): Promise<void>;
  /** Stores a token; durable once it resolves. A digest that is there already stays as it is. */
  addToken(token: TokenRecord): Promise<void>;
  /** Every token that was ever added, the oldest first. */
  listTokens(): Promise<readonly TokenRecord[]>;
  /** Revokes a token; durable once it resolves. One that was revoked before stays as it is. */
  revokeToken(digest: string, revokedAtMs: number): Promise<void>;
  /** Notes on which day tokens were used; an earlier day changes nothing. May be lost with the power. */
  noteTokenUses(digests: readonly string[], day: number): Promise<void>;
  /** Ends it after what was accepted is done. May be called twice. */
  close(): Promise<void>;
}

/** A durable store of plants and of the tokens that may create them. Its methods reject with a {@link StoreError}. */
export interface PlantStore extends StoreParts {
  /** Resolves once the result would survive the loss of power (CONTRACT "Durability"). */
  create(plant: NewPlant, onConflict: ConflictPolicy): Promise<CreateResult>;
}

/** A store that is only read. */
export interface StoreReader extends Pick<PlantStore, "get" | "list" | "listTokens" | "close"> {
  /** Looks for damage in all that is stored, and at what its durability rests on; rejects with what is wrong. */
  checkSoundness(): Promise<void>;
}

/**
 * What is different from one database to the next. Of `commit`, `addToken`, `revokeToken` and `close` one is under way at a
 * time, but for commits of an engine that takes several; the others may run beside them.
 */
export interface StoreEngine extends StoreParts {
  /** How many commits may be under way; they are carried out in their order. Absent: 1. */
  readonly maxCommits?: number;
  /**
   * Carries out the creates in their order and flushes them together. Either all of them are durable when it resolves,
   * or it rejects and none is there.
   *
   * @returns the results, in the order of the requests
   */
  commit(requests: readonly CreateRequest[]): Promise<readonly CreateResult[]>;
}

/**
 * - `full`: no room, or read-only. Nothing was stored; it works again when there is room
 * - `busy`: others kept the store locked for too long, or it can't be reached. Nothing was stored
 * - `closed`: `close()` was called before
 * - `unusable`: it could not be opened, and will not be until somebody mends it
 * - `failed`: anything else
 */
export type StoreErrorReason = "full" | "busy" | "closed" | "unusable" | "failed";

/** A failure of storage. Its message may name paths: it is for the store's owner, never for a client. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly reason: StoreErrorReason;

  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
