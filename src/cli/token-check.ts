/** Checks whether a plant store accepts a token, and shows progress. */
import { checkToken, type CheckTokenOptions, type TokenCheck } from "../client/probe.ts";
import { categorizeError, UnavailableError } from "../client/results.ts";
import { errorTable } from "../core/errors.ts";
import type { Run } from "./command.ts";
import { CommandError, exitCodes } from "./command-error.ts";
import { findToken, type FoundToken } from "./config/token-source.ts";
import { toAdvice, toExpectedFailure } from "./command-failure.ts";
import type { requestOptions } from "./options/remote.ts";
import { findAuthorities } from "./server-access.ts";
import type { Values } from "./options/values.ts";
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

/** Why a check failed, with the exit code of a command that depends on it. */
export interface CheckFailure {
  readonly exitCode: number;
  readonly message: string;
  /** The number of the Error, if the server sent one. */
  readonly error?: number;
}

/** A server and the token for it, as they were found. */
export interface ServerInspection {
  readonly target: Values<typeof requestOptions>;
  readonly found: FoundToken | CheckFailure;
  /** Without a token, a plant store responds with an error. */
  readonly check: TokenCheck | CheckFailure;
  /** Why a create with the token would fail; undefined if it would not. */
  readonly failure: CheckFailure | undefined;
}

/**
 * Finds the token for a server and checks both, without creating a plant. Sends the token only to a plant store.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function inspectServer(
  target: ServerInspection["target"],
  { io, terminal }: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): Promise<ServerInspection> {
  const { url: baseUrl, timeoutMs } = target;
  const toFailure = (error: unknown): CheckFailure => {
    signal.throwIfAborted();
    return toExpectedFailure(error);
  };
  const found = await findToken(undefined, baseUrl, io, signal).catch(toFailure);
  const token = "token" in found ? found.token : undefined;
  const check = await findAuthorities(target, io)
    .then(async (ca) => {
      const options = { baseUrl, ca, timeoutMs, signal };
      const server = await checkTokenWithProgress(options, terminal);
      if (token === undefined || !mayGetToken(server)) return server;
      return checkTokenWithProgress({ ...options, token }, terminal);
    })
    .catch(toFailure);
  return { target, found, check, failure: findFailure(check) };
}

function findFailure(check: TokenCheck | CheckFailure): CheckFailure | undefined {
  if (!("isAccepted" in check)) return check;
  if (check.isAccepted) return undefined;
  return { ...check.error, exitCode: toTokenExitCode(check.error.error) };
}

/** The exit code for a token that is not accepted. */
export function toTokenExitCode(error: number): number {
  const category = categorizeError(error);
  // Any other number may have another cause.
  const isAboutToken = category === "tokenRejected" || category === "unavailable";
  return exitCodes[isAboutToken ? category : "noPlantStore"].code;
}
