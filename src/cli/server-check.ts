/** Problems of servers and tokens for `login`, `ping` and `status`, with the sentences and the exit codes of a create. */
import type { TokenCheck } from "../client/probe.ts";
import { categorizeError, type CreateResponse } from "../client/results.ts";
import { errorTable } from "../core/errors.ts";
import { exitCodes } from "./command-error.ts";
import { type CheckProblem, toDetails, toErrorSentence } from "./command-failure.ts";
import type { Run } from "./command.ts";

/**
 * Returns the problem with a server, from its response to a check without a token: a plant store asks for one, or needs none.
 * Any other server never gets the token.
 *
 * @param url of the plant store, with its base path
 */
export function findServerProblem(
  check: TokenCheck,
  url: string,
  run: Pick<Run, "flags" | "io">,
): CheckProblem | undefined {
  if (check.isAccepted) return undefined;
  const isAsking = check.response.error.error === errorTable.noCredential.error;
  return isAsking ? undefined : toErrorProblem(check.response, url, run);
}

/**
 * Returns the problem with the Error of a server.
 *
 * @param tokenSource undefined if no token was sent
 */
export function toErrorProblem(
  response: Extract<CreateResponse, { ok: false }>,
  url: string,
  run: Pick<Run, "flags" | "io">,
  tokenSource?: string,
): CheckProblem {
  const { error } = response;
  const category = categorizeError(error.error);
  // A plant store has no other reason to reject a check.
  const isExpected = category === "tokenRejected" || category === "unavailable";
  const exit = isExpected ? category : "noPlantStore";
  const details = toDetails({ ...response, attempts: 1 }, url, run, tokenSource);
  const message = toErrorSentence(error, details);
  return { exitCode: exitCodes[exit].code, message, number: error.error };
}

/** The message of a problem with its number, as stderr shows it. */
export function toSentence({ message, number }: CheckProblem): string {
  return number === undefined ? message : `error ${number}: ${message}`;
}
