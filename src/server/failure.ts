/** The errors that clients get when the server itself fails. */
import { RequestError } from "../core/errors.ts";
import { StoreError } from "../core/store.ts";

/** Error for a request that comes before the server has its store. */
export const serverStarting = new RequestError("overloaded", "the server is starting: try again");

/** Error for a request that comes after the server began to stop. */
export const serverStopping = new RequestError("shuttingDown", "the server is stopping: try again");

/** Error for a create that fails on demand. */
export const injectedFailure = new RequestError(
  "overloaded",
  "a fault for tests of clients: try again",
);

/** A request with a method that its path does not support. */
export class MethodError extends RequestError {
  /** Value of the Allow header (RFC 9110 section 10.2.1). */
  readonly allow: string;

  constructor(message: string, allow: string) {
    super("noSuchMethod", message);
    this.allow = allow;
  }
}

/** Describes a failure without its details, which may name paths of the machine. */
export function describeFailure(error: unknown): RequestError {
  switch (error instanceof StoreError ? error.reason : undefined) {
    case "full":
      return new RequestError("storageFull", "the storage is full or read-only: try again later");
    case "busy":
      return new RequestError("overloaded", "the storage is busy: try again");
    case "closed":
      return serverStopping;
    default:
      return new RequestError("unexpected", "the server failed unexpectedly: try again");
  }
}
