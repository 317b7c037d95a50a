/** Plants and creates in columns, for another thread. */
import type { NewPlant } from "../../core/plant.ts";
import {
  type ConflictPolicy,
  type CreateRequest,
  type FeedEntry,
  StoreError,
} from "../../core/store.ts";

/**
 * Plants in columns, for another thread. Objects take four times as long to copy, most of it for the bigint in each of
 * them.
 */
export interface PackedPlants {
  readonly ids: BigInt64Array;
  readonly names: readonly string[];
  readonly tags: readonly (string | undefined)[];
}

/** Creates in columns. */
export interface PackedRequests extends PackedPlants {
  readonly policies: readonly ConflictPolicy[];
}

/** Entries of the feed in columns. */
export interface PackedFeed {
  readonly ids: BigInt64Array;
  readonly cursors: readonly string[];
  /** Undefined for a deleted plant. */
  readonly names: readonly (string | undefined)[];
  readonly tags: readonly (string | undefined)[];
}

/**
 * Packs creates for another thread.
 *
 * @throws StoreError `failed` when an id is outside int64, where it would become a different id
 */
export function packRequests(requests: readonly CreateRequest[]): PackedRequests {
  const packed = packPlants(requests.map(({ plant }) => plant));
  for (const [index, { plant }] of requests.entries()) {
    if (packed.ids[index] === plant.id) continue;
    throw new StoreError("failed", `id ${plant.id} is outside int64`);
  }
  return { ...packed, policies: requests.map(({ onConflict }) => onConflict) };
}

/** Packs plants for another thread. */
export function packPlants(plants: readonly NewPlant[]): PackedPlants {
  return {
    ids: BigInt64Array.from(plants, ({ id }) => id),
    names: plants.map(({ name }) => name),
    tags: plants.map(({ tag }) => tag),
  };
}

/** Unpacks plants from another thread. */
export function unpackPlants({ ids, names, tags }: PackedPlants): NewPlant[] {
  return Array.from(ids, (id, index) => toPlant(id, names[index] as string, tags[index]));
}

/** Unpacks entries of the feed from another thread. */
export function unpackFeed({ ids, cursors, names, tags }: PackedFeed): FeedEntry[] {
  return Array.from(ids, (id, index) => {
    const name = names[index];
    const entry = { cursor: cursors[index] as string, id };
    return name === undefined ? entry : { ...entry, plant: toPlant(id, name, tags[index]) };
  });
}

function toPlant(id: bigint, name: string, tag: string | undefined): NewPlant {
  return tag === undefined ? { id, name } : { id, name, tag };
}
