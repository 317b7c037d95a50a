/** Checks whether a plant store accepts a token, and shows progress. */
import { checkToken, type CheckTokenOptions, type TokenCheck } from "../client/check-token.ts";
import { UnavailableError } from "../client/client-error.ts";
import { categorizeError } from "../client/error-category.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { toAdvice } from "./failure.ts";
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

/** The exit code for a token that is not accepted. */
export function toTokenExitCode(error: number): number {
  const category = categorizeError(error);
  // Any other number may have another cause.
  const isAboutToken = category === "tokenRejected" || category === "unavailable";
  return exitCodes[isAboutToken ? category : "noPlantStore"].code;
}
