/** Shared by the creates of one plant and of many: the request with its token, and descriptions of failures. */
import type { FinalResponse, Retry } from "../../../client/send-plant.ts";
import { type CreateRequest, toCreateRequest } from "../../../client/create-messages.ts";
import type { Rejection } from "../../../client/item-result.ts";
import { toTraceId } from "../../../core/interface.ts";
import { quoteInput } from "../../../core/quote.ts";
import { findToken, type FoundToken } from "../../config/token-source.ts";
import { exitCodes } from "../../exit-codes.ts";
import { toExitCode } from "../../command-failure.ts";
import { warnAboutPlaintext } from "../../server-access.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { CreateRun } from "./create-run.ts";

/** Longest message on stderr in UTF-16 code units. stdout has the whole message. */
const maxSentenceLength = 1000;

/**
 * Finds the token, and warns if the connection is not encrypted.
 *
 * @throws CommandError without a token
 * @throws the reason of the run's cut-off
 */
export async function findTokenToSend(run: CreateRun): Promise<FoundToken> {
  const { options, io, terminal, cutOff } = run;
  const { tokenFile, url } = options;
  const read = () => findToken(tokenFile, url, io, cutOff);
  let found: FoundToken;
  if (tokenFile === "-" && io.stdin.isTTY) {
    await terminal.note("reading the token from the terminal: end with Ctrl-D");
    found = await read();
  } else {
    found = await terminal.showWhile(() => "waiting for input", read);
  }
  await warnAboutPlaintext(url, terminal);
  cutOff.throwIfAborted();
  return found;
}

/** The request of a create, without its body. It continues the trace of the caller; an invalid one is ignored. */
export function toRequest(
  token: string | undefined,
  { options, ca, io }: CreateRun,
): CreateRequest {
  const { TRACEPARENT: trace = "" } = io.env;
  const traceparent = toTraceId(trace) === undefined ? undefined : trace;
  return toCreateRequest(options.url, token, { ca, traceparent });
}

/** Describes a failed attempt. The text may be followed by a comma or a colon. */
export function describeUnavailable({ failure }: Retry, url: string): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : failure.detail;
  return `${url} is unavailable (${quoteInput(reason, 100)})`;
}

/** Returns what the sentence about an Error adds to its message. */
export function toDetails(
  { error, attempts, requestId }: FinalResponse & { readonly ok: false },
  tokenSource: string,
  url: string,
): string[] {
  const exitCode = toExitCode(error.error);
  const details = [];
  if (exitCode === exitCodes.tokenRejected.code) details.push(`the token came from ${tokenSource}`);
  if (exitCode === exitCodes.noPlantStore.code) {
    details.push(`check the path of --url, which is ${url}`);
  }
  if (attempts > 1) details.push(`after ${attempts} attempts`);
  if (requestId !== undefined) details.push(`request ${quoteInput(requestId, 128)}`);
  return details;
}

/** Reports an Error as one sentence on stderr. */
export async function reportError(
  { error, message }: Rejection,
  details: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const addition = details.length === 0 ? "" : ` (${details.join("; ")})`;
  const isLong = message.length > maxSentenceLength;
  const sentence = isLong ? `${message.slice(0, maxSentenceLength)}…` : message;
  await terminal.error(sentence + addition, error);
}
