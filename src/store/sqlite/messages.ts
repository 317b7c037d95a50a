/** Messages between the main thread and a thread with a connection. A batch of creates is one message each way. */
import { StoreError, type StoreErrorReason } from "../../core/store.ts";

/** Calls a method of the connection. Replies arrive in the order of the calls. */
export interface Call {
  readonly method: PropertyKey;
  readonly args: readonly unknown[];
}

/** Result of a call. The first one of a thread is that of opening its connection. */
export type Reply = { readonly value: unknown } | { readonly failure: Failure };

/** A StoreError as plain data, because errors lose their class between threads. */
interface Failure {
  readonly reason: StoreErrorReason;
  readonly message: string;
}

/** Converts an error for another thread. Its message includes that of its cause. */
export function toFailure(error: unknown): Failure {
  const { reason, message } =
    error instanceof StoreError ? error : new StoreError("failed", String(error));
  return { reason, message };
}

/** Restores an error from another thread. */
export function fromFailure({ reason, message }: Failure): StoreError {
  return new StoreError(reason, message);
}
