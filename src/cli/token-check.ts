/** Checks whether a plant store accepts a token, and shows progress. */
import { checkToken, type CheckTokenOptions, type TokenCheck } from "../client/check-token.ts";
import { UnavailableError } from "../client/client-error.ts";
import { categorizeError } from "../client/error-category.ts";
import { post } from "../client/http/post.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { toAdvice } from "./failure.ts";
import { tracePost } from "./request-trace.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Options for {@link checkTokenWithProgress}. */
export interface TokenCheckOptions extends Omit<CheckTokenOptions, "post"> {
  /** True to print the request and the response. */
  readonly isVerbose?: boolean | undefined;
}

/**
 * Checks a token without creating a plant.
 *
 * @param options without a token, checks only whether a plant store responds
 * @throws CommandError without a response; NotAPlantStoreError
 */
export async function checkTokenWithProgress(
  options: TokenCheckOptions,
  terminal: Terminal,
): Promise<TokenCheck> {
  const { baseUrl, isVerbose } = options;
  try {
    if (isVerbose) return await checkToken({ ...options, post: tracePost(post, terminal) });
    return await terminal.showWhile(
      () => `waiting for ${baseUrl}`,
      () => checkToken({ ...options, post }),
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
