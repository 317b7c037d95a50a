/** Catches a refusal, so that a test can look at its kind and its message at once. */
import { RequestError } from "../../src/core/errors.ts";

/** What `run` is refused with; fails when it is not. */
export function requestErrorOf(run: () => unknown): RequestError {
  try {
    run();
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
