/** Checks whether a plant store accepts a token, and shows progress. */
import { checkToken, type TokenCheck } from "../client/check-token.ts";
import { UnavailableError } from "../client/client-error.ts";
import { post } from "../client/http/post.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { toExitCode } from "./failure.ts";
import { tracePost } from "./request-trace.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** A request that checks a token. */
export interface Trial {
  readonly baseUrl: string;
  /** Certificates of trusted authorities, in PEM. */
  readonly ca?: string | undefined;
  /** Absent: checks only whether a plant store responds. */
  readonly token?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** True to print the request and the response. */
  readonly isVerbose?: boolean | undefined;
}

/**
 * Sends the request. It creates nothing.
 *
 * @throws CommandError, UnavailableError without a response; NotAPlantStoreError
 */
export async function tryToken(trial: Trial, terminal: Terminal): Promise<TokenCheck> {
  const { baseUrl, isVerbose } = trial;
  try {
    if (isVerbose) return await checkToken({ ...trial, post: tracePost(post, terminal) });
    return await terminal.showWhile(
      () => `waiting for ${baseUrl}`,
      () => checkToken({ ...trial, post }),
    );
  } catch (error) {
    // The usual message is about a plant that may have been created.
    if (!(error instanceof UnavailableError) || !/^(?:timeout|lost|gateway)$/.test(error.reason)) {
      throw error;
    }
    const longer = error.reason === "timeout" ? "; a higher --timeout waits longer" : "";
    throw new CommandError("unavailable", `${error.message}: try again${longer}`, { cause: error });
  }
}

/** The exit code for a token that is not accepted. */
export function toTrialExitCode(error: number): number {
  const exitCode = toExitCode(error);
  const isAboutToken = [exitCodes.tokenRefused.code, exitCodes.unavailable.code].some(
    (code) => code === exitCode,
  );
  // Any other number may have another cause.
  return isAboutToken ? exitCode : exitCodes.notAPlantStore.code;
}
