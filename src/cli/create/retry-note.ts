/** What a person who looks on is told of an attempt that failed. */
import type { Retry } from "../../client/create-plant.ts";
import { quoteInput } from "../../core/quote.ts";
import type { CreateRun } from "./run.ts";

/** Says that it failed, and when the next one follows. */
export function sayRetry(retry: Retry, retries: number, run: CreateRun): void {
  const { options, io, reporter } = run;
  if (io.stderr.isTTY) void reporter.note(describeRetry(retry, retries, options.baseUrl));
}

function describeRetry(
  { attempt, delayMs, failure }: Retry,
  retries: number,
  baseUrl: string,
): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : failure.detail;
  const next = `attempt ${attempt + 1} of ${retries + 1} in ${(delayMs / 1000).toFixed(1)} s`;
  return `${baseUrl} is unavailable (${quoteInput(reason, 100)}): ${next}`;
}
