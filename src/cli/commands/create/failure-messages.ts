/** Messages about plants that are not created. A create without a failure does not load them. */
import type { Retry } from "../../../client/create-plant.ts";
import {
  categorizeError,
  type FinalResponse,
  type Rejection,
  toReason,
} from "../../../client/results.ts";
import { errorTable } from "../../../core/errors.ts";
import { quoteInput } from "../../../core/messages.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Longest message on stderr in UTF-16 code units. stdout has the whole message. */
const maxSentenceLength = 1000;

/** Describes a failed attempt. The text may be followed by a comma or a colon. */
export function describeUnavailable({ failure }: Retry, url: string): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : toReason(failure.detail);
  return `${url} is unavailable (${quoteInput(reason, 100)})`;
}

/** Returns what the sentence about an Error adds to its message. */
export function toDetails(
  { error, attempts, requestId }: FinalResponse & { readonly ok: false },
  tokenSource: string | undefined,
  url: string,
): string[] {
  const category = categorizeError(error.error);
  const details = [];
  if (category === "tokenRejected" && tokenSource !== undefined) {
    details.push(`the token came from ${tokenSource}`);
  }
  if (category === "noPlantStore") {
    const part = error.error === errorTable.malformedHttp.error ? "" : "the path of ";
    details.push(`check ${part}--url, which is ${url}`);
  }
  if (attempts > 1) details.push(`after ${attempts} attempts`);
  if (requestId !== undefined) details.push(`request ${quoteInput(requestId, 128)}`);
  return details;
}

/** Reports an Error as one sentence on stderr. */
export async function reportError(
  rejection: Rejection,
  details: readonly string[],
  terminal: Terminal,
): Promise<void> {
  await terminal.error(toErrorSentence(rejection, details), rejection.error);
}

/** The sentence about an Error. */
export function toErrorSentence({ message }: Rejection, details: readonly string[]): string {
  const addition = details.length === 0 ? "" : ` (${details.join("; ")})`;
  const isLong = message.length > maxSentenceLength;
  return (isLong ? `${message.slice(0, maxSentenceLength)}…` : message) + addition;
}
