/** Checks whether a plant store accepts a token, and shows progress. */
import { checkToken, type CheckTokenOptions, type TokenCheck } from "../client/probe.ts";
import { categorizeError, UnavailableError } from "../client/results.ts";
import { errorTable } from "../core/errors.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { toAdvice } from "./command-failure.ts";
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
    throw new CommandError("unavailable", toAdvice(error, "try again"), { cause: error });
  }
}

/**
 * Returns whether a server may get a token, from its response to a check without one: a plant store asks for it, or needs
 * none. Any other server never gets it.
 */
export function mayGetToken(check: TokenCheck): boolean {
  return check.isAccepted || check.error.error === errorTable.noCredential.error;
}

/** The exit code for a token that is not accepted. */
export function toTokenExitCode(error: number): number {
  const category = categorizeError(error);
  // Any other number may have another cause.
  const isAboutToken = category === "tokenRejected" || category === "unavailable";
  return exitCodes[isAboutToken ? category : "noPlantStore"].code;
}
