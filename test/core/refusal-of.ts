/** Catches a refusal, so that a test can look at its kind and its message at once. */
import { Refusal } from "../../src/core/errors.ts";

/** What `run` is refused with; fails when it is not. */
export function refusalOf(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
