/** What a person who looks on is told of an attempt that failed. */
import type { Retry } from "../../client/create-plant.ts";
import { quoteInput } from "../../core/quote.ts";
import type { CreateRun } from "./run.ts";

/** Says that it failed, and when the next one follows. */
export function sayRetry(retry: Retry, retries: number, run: CreateRun): void {
  const { options, io, reporter } = run;
  if (io.stderr.isTTY) void reporter.note(describeRetry(retry, retries, options.baseUrl));
}

/** Why an attempt failed, in words that a comma or a colon may follow. */
export function describeUnavailable({ failure }: Retry, baseUrl: string): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : failure.detail;
  return `${baseUrl} is unavailable (${quoteInput(reason, 100)})`;
}

function describeRetry(retry: Retry, retries: number, baseUrl: string): string {
  const { attempt, delayMs } = retry;
  const next = `attempt ${attempt + 1} of ${retries + 1} in ${(delayMs / 1000).toFixed(1)} s`;
  return `${describeUnavailable(retry, baseUrl)}: ${next}`;
}
