/** Tries whether a plant store takes a token, for a person who waits. */
import { checkToken, type TokenCheck } from "../../client/check-token.ts";
import { UnavailableError } from "../../client/client-error.ts";
import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../failure.ts";
import type { Io } from "../io.ts";
import { showWhile } from "../output/progress.ts";

/** What is tried. */
export interface Trial {
  readonly baseUrl: string;
  /** Absent: whether a plant store answers at all. */
  readonly token?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Asks the plant store.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @throws CommandError, UnavailableError when no answer came; nothing was created
 * @throws NotAPlantStoreError
 */
export async function tryToken(
  trial: Trial,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<TokenCheck> {
  try {
    return await showWhile(
      () => `waiting for ${trial.baseUrl}`,
      () => checkToken(trial),
      io,
      colorChoice,
    );
  } catch (error) {
    // What is said of these otherwise is about a plant that may have been created.
    if (!(error instanceof UnavailableError) || !/^(?:timeout|lost|gateway)$/.test(error.reason)) {
      throw error;
    }
    const longer = error.reason === "timeout" ? "; --timeout gives it longer" : "";
    throw new CommandError("unavailable", `${error.message}: try again${longer}`, { cause: error });
  }
}

/** The exit code for a token that was not accepted. */
export function toTrialExitCode(error: number): number {
  const exitCode = toExitCode(error);
  const says = [exitCodes.tokenRefused.code, exitCodes.unavailable.code].some(
    (code) => code === exitCode,
  );
  // Of any other number nobody knows whether it is about the token.
  return says ? exitCode : exitCodes.notAPlantStore.code;
}
