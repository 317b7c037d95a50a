/** Checks servers and tokens for `login`, `ping` and `status`, with the sentences and the exit codes of a create. */
import { checkToken, type CheckTokenOptions, type TokenCheck } from "../client/probe.ts";
import { categorizeError, type CreateResponse, UnavailableError } from "../client/results.ts";
import { errorTable } from "../core/errors.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { type CheckProblem, toAdvice, toUnavailableExit } from "./command-failure.ts";
import { toDetails, toErrorSentence } from "./commands/create/failure-messages.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Checks a token without creating a plant.
 *
 * @param options without a token, checks only whether a plant store responds
 * @throws CommandError without a response; NotAPlantStoreError
 */
export async function checkTokenWithProgress(
  options: CheckTokenOptions,
  terminal: Terminal,
): Promise<TokenCheck> {
  try {
    return await terminal.showWhile(
      () => `waiting for ${options.baseUrl}`,
      () => checkToken(options),
    );
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    const message = toAdvice(error, "try again");
    throw new CommandError(toUnavailableExit(error), message, { cause: error });
  }
}

/**
 * Returns the problem with a server, from its response to a check without a token: a plant store asks for one, or needs none.
 * Any other server never gets the token.
 *
 * @param url of the plant store, with its base path
 */
export function findServerProblem(check: TokenCheck, url: string): CheckProblem | undefined {
  if (check.isAccepted) return undefined;
  const isAsking = check.response.error.error === errorTable.noCredential.error;
  return isAsking ? undefined : toErrorProblem(check.response, url);
}

/**
 * Returns the problem with the Error of a server.
 *
 * @param tokenSource undefined if no token was sent
 */
export function toErrorProblem(
  response: Extract<CreateResponse, { ok: false }>,
  url: string,
  tokenSource?: string,
): CheckProblem {
  const { error } = response;
  const category = categorizeError(error.error);
  // A plant store has no other reason to reject a check.
  const isExpected = category === "tokenRejected" || category === "unavailable";
  const exit = isExpected ? category : "noPlantStore";
  const details = toDetails({ ...response, attempts: 1 }, tokenSource, url);
  const message = toErrorSentence(error, details);
  return { exitCode: exitCodes[exit].code, message, number: error.error };
}

/** The message of a problem with its number, as stderr shows it. */
export function toSentence({ message, number }: CheckProblem): string {
  return number === undefined ? message : `error ${number}: ${message}`;
}
