/** `plantstore login`: checks a token, and saves it for the origin of a plant store. */
import { findTokenProblem } from "../../../auth/token-text.ts";
import { toCheckRequest } from "../../../client/check-token.ts";
import type { ErrorBody } from "../../../core/plant.ts";
import type { Run } from "../../command.ts";
import { CommandError, interruptible } from "../../command-error.ts";
import { readSavedToken, saveToken } from "../../config/credentials.ts";
import { findConfigDirectory } from "../../config/directories.ts";
import { readSavedSettings, saveSettings } from "../../config/saved-settings.ts";
import { readInputToken } from "../../config/token-source.ts";
import { exitCodes } from "../../exit-codes.ts";
import { loginOptions } from "../../options.ts";
import { warnAboutPlaintext } from "../../plaintext-warning.ts";
import { printCurlCommand } from "../../request-trace.ts";
import { readOptions, type Values } from "../../settings.ts";
import { toTrialExitCode, tryToken } from "../../token-trial.ts";
import { askSecret } from "./secret-prompt.ts";

type Options = Values<typeof loginOptions>;

/**
 * Saves a token that works, and makes its plant store the default.
 *
 * @returns the exit code
 * @throws CommandError, UnavailableError, NotAPlantStoreError; nothing is saved then
 */
export async function login(run: Run): Promise<number> {
  const { io, terminal } = run;
  const options = readOptions(loginOptions, run.flags, io);
  if (options.printCurl) {
    await printCurlCommand(toCheckRequest(options.url, undefined), io);
    return exitCodes.done.code;
  }
  const rejection = await interruptible(
    io,
    (signal) => saveIfAccepted(options, run, signal),
    "nothing was saved",
  );
  if (rejection !== undefined) {
    await terminal.error(`${rejection.message} (nothing was saved)`, rejection.error);
    return toTrialExitCode(rejection.error);
  }
  await terminal.note(`Logged in to ${options.url} (now the default)`);
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"]) {
    if (!io.env[variable]) continue;
    await terminal.warning(`${variable} is set, and wins over saved values`);
  }
  return exitCodes.done.code;
}

/** @returns the Error of a rejected token; undefined once the token is saved */
async function saveIfAccepted(
  options: Options,
  { io, terminal }: Run,
  signal: AbortSignal,
): Promise<ErrorBody | undefined> {
  const { url: baseUrl, timeoutMs, verbose: isVerbose } = options;
  const { origin } = new URL(baseUrl);
  const directory = findConfigDirectory(io);
  // Reports problems of saving before the user types a token.
  readSavedToken(directory, origin);
  const settings = readSavedSettings(directory);
  await warnAboutPlaintext(baseUrl, terminal);
  const token = await readToken(baseUrl, { io, terminal }, signal);
  const check = await tryToken({ baseUrl, timeoutMs, token, signal, isVerbose }, terminal);
  if (!check.isAccepted) return check.error;
  signal.throwIfAborted();
  await saveToken(directory, origin, token);
  await saveSettings(directory, { ...settings, url: baseUrl });
  return undefined;
}

async function readToken(
  baseUrl: string,
  { io, terminal }: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): Promise<string> {
  if (!io.stdin.isTTY) await terminal.note(`reading the token for ${baseUrl} from standard input`);
  const token = io.stdin.isTTY
    ? await askSecret(`Token for ${baseUrl} (it is not shown): `, io, signal)
    : await readInputToken(io, signal);
  const problem = findTokenProblem(token);
  if (problem) throw new CommandError("tokenRefused", `the token ${problem}; nothing was saved`);
  return token;
}
