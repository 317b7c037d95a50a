/** The error of a bulk create that stopped early. */
import type { NotAPlantStoreError, UnavailableError } from "./client-error.ts";
import type { CreateResponse } from "./create-messages.ts";

/** The failure that stopped a run, because every other create would fail as well. */
export type StopCause =
  | (CreateResponse & { readonly ok: false; readonly attempts: number })
  | UnavailableError
  | NotAPlantStoreError;

/** Thrown after all results when every other create would fail as well, for example because the token is rejected. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  /** The response with the Error, or the reason without one. */
  override readonly cause: StopCause;

  constructor(cause: StopCause) {
    const { message } = "ok" in cause ? cause.error : cause;
    super(`every other create would fail as well: ${message}`);
    this.cause = cause;
  }
}
