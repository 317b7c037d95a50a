/** `plantstore login`: takes a token, tries it, and saves it for the origin of one plant store. */
import type { ErrorBody } from "../../core/plant.ts";
import { CommandError } from "../command-error.ts";
import { readSavedToken, saveToken } from "../tokens/credentials.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { warnOfEavesdroppers } from "../tokens/eavesdroppers.ts";
import { exitCodes } from "../exit-codes.ts";
import { interruptible } from "../interruption.ts";
import type { Io } from "../io.ts";
import { createReporter, type Reporter } from "../output/reporter.ts";
import { readSavedSettings, saveSettings } from "../settings/saved-settings.ts";
import { askSecret } from "../tokens/secret-prompt.ts";
import {
  type LoginFlags,
  type LoginOptions,
  resolveLoginOptions,
} from "../settings/client-settings.ts";
import { readInputToken } from "../tokens/token-source.ts";
import { findTokenProblem } from "../../auth/token-text.ts";
import { toTrialExitCode, tryToken } from "../tokens/token-trial.ts";

/**
 * Saves a token that works, and makes its plant store the one that is meant where no other is named.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @returns the exit code
 * @throws CommandError, UnavailableError, NotAPlantStoreError; nothing is saved then
 */
export async function login(
  flags: LoginFlags,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<number> {
  const options = resolveLoginOptions(flags, io);
  const reporter = createReporter(io, colorChoice);
  const refusal = await interruptible(
    io,
    (signal) => saveIfAccepted(options, io, colorChoice, signal),
    "nothing was saved",
  );
  if (refusal !== undefined) {
    await reporter.error(`${refusal.message} (nothing was saved)`, refusal.error);
    return toTrialExitCode(refusal.error);
  }
  await reporter.note(
    `logged in to ${options.baseUrl}, which is the plant store from now on where none is named`,
  );
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"]) {
    if (!io.env[variable]) continue;
    await reporter.warning(`${variable} is set here, and wins over what was saved`);
  }
  return exitCodes.done.code;
}

/** @returns why the plant store does not take the token; undefined once it is saved */
async function saveIfAccepted(
  options: LoginOptions,
  io: Io,
  colorChoice: boolean | undefined,
  signal: AbortSignal,
): Promise<ErrorBody | undefined> {
  const { baseUrl } = options;
  const { origin } = new URL(baseUrl);
  const directory = findConfigDirectory(io);
  const reporter = createReporter(io, colorChoice);
  // What would be in the way of saving is better known before anybody types a token.
  readSavedToken(directory, origin);
  const settings = readSavedSettings(directory);
  await warnOfEavesdroppers(baseUrl, reporter);
  const token = await readToken(options, io, reporter, signal);
  const check = await tryToken({ ...options, token, signal }, io, colorChoice);
  if (!check.isAccepted) return check.error;
  signal.throwIfAborted();
  await saveToken(directory, origin, token);
  await saveSettings(directory, { ...settings, url: baseUrl });
  return undefined;
}

/** Nobody waits for input without knowing of it. */
async function readToken(
  { baseUrl }: LoginOptions,
  io: Io,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<string> {
  if (!io.stdin.isTTY) await reporter.note(`reading the token for ${baseUrl} from standard input`);
  const token = io.stdin.isTTY
    ? await askSecret(`Token for ${baseUrl} (it is not shown): `, io, signal)
    : await readInputToken(io, signal);
  const problem = findTokenProblem(token);
  if (problem) throw new CommandError("tokenRefused", `the token ${problem}; nothing was saved`);
  return token;
}
