/** Catches a RequestError, so that a test can check its kind and its message together. */
import { RequestError } from "../../src/core/errors.ts";

/** Returns the RequestError that `run` throws. Throws if it throws none. */
export function requestErrorOf(run: () => unknown): RequestError {
  try {
    run();
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error("no RequestError was thrown");
}
