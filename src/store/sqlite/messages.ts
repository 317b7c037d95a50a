/** What goes between the main thread and one that has a connection. Many creates are one message each way. */
import {
  type ConflictPolicy,
  type CreateRequest,
  StoreError,
  type StoreErrorReason,
} from "../../core/store.ts";
import type { Connection } from "./connection.ts";

/** What a thread is to open. */
export interface ConnectionPlace {
  /** Absolute. */
  readonly path: string;
  /** Of the file that has to be there. */
  readonly identity: string;
}

/** What a thread can be asked for. */
export type Method = keyof Connection;

/** Asks a thread for something. Replies come in the order of the calls. */
export interface Call {
  readonly method: Method;
  /** Of the method, but for `commit`: those are {@link PackedRequests}. */
  readonly args: readonly unknown[];
}

/** What came of a call; the first reply of a thread tells what came of opening its connection. */
export type Reply = { readonly value: unknown } | { readonly failure: Failure };

/** A StoreError as plain data: errors lose their class on the way. */
interface Failure {
  readonly reason: StoreErrorReason;
  readonly message: string;
}

/** Creates side by side: as objects they take four times as long to copy, most of it for the bigint in each of them. */
export interface PackedRequests {
  readonly ids: BigInt64Array;
  readonly names: readonly string[];
  readonly tags: readonly (string | undefined)[];
  readonly policies: readonly ConflictPolicy[];
}

/** @throws StoreError when an id is outside int64, where it would become another one */
export function packRequests(requests: readonly CreateRequest[]): PackedRequests {
  const ids = new BigInt64Array(requests.length);
  const names: string[] = [];
  const tags: (string | undefined)[] = [];
  const policies: ConflictPolicy[] = [];
  for (const [index, { plant, onConflict }] of requests.entries()) {
    ids[index] = plant.id;
    if (ids[index] !== plant.id) throw new StoreError("failed", `id ${plant.id} is outside int64`);
    names.push(plant.name);
    tags.push(plant.tag);
    policies.push(onConflict);
  }
  return { ids, names, tags, policies };
}

/** The creates that were packed. */
export function unpackRequests({ ids, names, tags, policies }: PackedRequests): CreateRequest[] {
  return Array.from(ids, (id, index) => ({
    plant: { id, name: names[index] as string, tag: tags[index] },
    onConflict: policies[index] as ConflictPolicy,
  }));
}

/** An error as it goes to another thread. What caused it is in its message. */
export function toFailure(error: unknown): Failure {
  const { reason, message } =
    error instanceof StoreError ? error : new StoreError("failed", String(error));
  return { reason, message };
}

/** The error that was sent. */
export function fromFailure({ reason, message }: Failure): StoreError {
  return new StoreError(reason, message);
}
