/** `plantstore login` and `logout`: check and save a token for the origin of a plant store, and remove it. */
import { resolve } from "node:path";
import { findTokenProblem } from "../../../auth/token.ts";
import { toCheckRequest } from "../../../client/check-token.ts";
import { toEndpoint } from "../../../core/base-url.ts";
import type { ErrorBody } from "../../../core/plant.ts";
import type { Run } from "../../command.ts";
import { CommandError, interruptible, UsageError } from "../../command-error.ts";
import {
  readCredential,
  readSavedToken,
  removeToken,
  saveCredential,
} from "../../config/credentials.ts";
import { findConfigDirectory, findConfigDirectoryIfAny } from "../../config/directories.ts";
import {
  describeProfiles,
  hasProfile,
  readSavedSettings,
  type SavedSettings,
  saveSettings,
} from "../../config/saved-settings.ts";
import { describeCommand, runTokenCommand } from "../../config/token-command.ts";
import { readInputToken } from "../../config/token-source.ts";
import { exitCodes } from "../../exit-codes.ts";
import { loginOptions, urlOption } from "../../options.ts";
import { readAuthorities, warnAboutPlaintext } from "../../server-access.ts";
import { printCurlCommand } from "../../request-trace.ts";
import { readOptions, readProfile, type Values } from "../../settings.ts";
import { askSecret } from "../../terminal/prompts.ts";
import { checkTokenWithProgress, toTokenExitCode } from "../../token-check.ts";

type Options = Values<typeof loginOptions>;

/**
 * Saves a token that works, and makes its plant store the default.
 *
 * @returns the exit code
 * @throws CommandError, NotAPlantStoreError; nothing is saved then
 */
export async function login(run: Run): Promise<number> {
  const { io, terminal } = run;
  const options = readLoginOptions(run);
  if (options.printsCurl) {
    await printCurlCommand(toCheckRequest(options.url, undefined), terminal, options.cacert);
    return exitCodes.done.code;
  }
  const rejection = await interruptible(
    io,
    (signal) => saveIfAccepted(options, run, signal),
    "nothing was saved",
  );
  if (rejection !== undefined) {
    await terminal.error(`${rejection.message} (nothing was saved)`, rejection.error);
    return toTokenExitCode(rejection.error);
  }
  const { profile } = options;
  const use = profile === undefined ? "now the default" : `profile ${profile}`;
  await terminal.note(`Logged in to ${options.url} (${use})`);
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"]) {
    // A flag that names a profile wins over the URL.
    if (!io.env[variable] || (variable === "PLANTSTORE_URL" && profile !== undefined)) continue;
    await terminal.warning(`${variable} is set, and wins over saved values`);
  }
  return exitCodes.done.code;
}

/** @throws CommandError for an invalid option, or a new profile without a URL */
function readLoginOptions({ flags, io }: Run): Options {
  const profile = readProfile(flags, io);
  const directory = findConfigDirectoryIfAny(io);
  const settings = directory === undefined ? {} : readSavedSettings(directory);
  if (profile === undefined || hasProfile(settings, profile)) {
    return readOptions(loginOptions, flags, io);
  }
  if (flags["url"] === undefined && !io.env[loginOptions.url.env]) {
    throw new UsageError(
      `unknown profile "${profile}": pass --url to create it; ${describeProfiles(settings, profile)}`,
    );
  }
  return { ...readOptions(loginOptions, { ...flags, profile: "" }, io), profile };
}

/** @returns the Error of a rejected token; undefined once the token is saved */
async function saveIfAccepted(
  options: Options,
  { io, terminal }: Run,
  signal: AbortSignal,
): Promise<ErrorBody | undefined> {
  const { url: baseUrl, timeoutMs, profile, isVerbose } = options;
  const { origin } = toEndpoint(baseUrl);
  const cacert = options.cacert === undefined ? undefined : resolve(options.cacert);
  const ca = await readAuthorities(cacert);
  const directory = findConfigDirectory(io);
  // Reports problems of saving before the user types a token.
  readSavedToken(directory, origin);
  const settings = readSavedSettings(directory);
  await warnAboutPlaintext(baseUrl, terminal);
  const { tokenCommand } = options;
  const token = await readToken(baseUrl, tokenCommand, { io, terminal }, signal);
  const check = await checkTokenWithProgress(
    { baseUrl, ca, timeoutMs, token, signal, isVerbose },
    terminal,
  );
  if (!check.isAccepted) return check.error;
  signal.throwIfAborted();
  const secret = tokenCommand === undefined ? { token } : { command: tokenCommand };
  await saveCredential(directory, { origin, ...secret });
  const target = { url: baseUrl, ...(cacert !== undefined && { cacert }) };
  const { profiles } = settings;
  const saved =
    profile === undefined
      ? { ...(profiles && { profiles }), ...target }
      : { ...settings, profiles: { ...profiles, [profile]: target } };
  await saveSettings(directory, saved);
  return undefined;
}

async function readToken(
  baseUrl: string,
  command: string | undefined,
  { io, terminal }: Pick<Run, "io" | "terminal">,
  signal: AbortSignal,
): Promise<string> {
  if (command !== undefined) {
    const printed = await runTokenCommand(command, io, signal);
    assertToken(printed, `the token from ${describeCommand(command)}`);
    return printed;
  }
  if (!io.stdin.isTTY) await terminal.note(`reading the token for ${baseUrl} from standard input`);
  const token = io.stdin.isTTY
    ? await askSecret(`Token for ${baseUrl} (it is not shown): `, io, signal)
    : await readInputToken(io, signal);
  assertToken(token, "the token");
  return token;
}

/** @throws CommandError */
function assertToken(token: string, name: string): void {
  const problem = findTokenProblem(token);
  if (problem) throw new CommandError("tokenRejected", `${name} ${problem}; nothing was saved`);
}

/**
 * Removes the token, and the profile. Its plant store is no longer the default.
 *
 * @throws CommandError if the token cannot be removed; it still exists if the settings cannot be read
 */
export async function logout({ flags, io, terminal }: Run): Promise<void> {
  const { url, profile } = readOptions(urlOption, flags, io);
  if (flags["profile"] && flags["url"] !== undefined) {
    throw new UsageError("--profile has a URL of its own: remove --url");
  }
  const { origin } = toEndpoint(url);
  const directory = findConfigDirectory(io);
  // First, so that unreadable settings do not stop a logout half-way.
  const settings = readSavedSettings(directory);
  const isCommand = hasCommand(directory, origin);
  const isRemoved = await removeToken(directory, origin);
  const remaining = withoutTarget(settings, profile, origin);
  if (remaining !== settings) await saveSettings(directory, remaining);
  await terminal.note(
    isRemoved
      ? isCommand
        ? `removed the token command for ${origin} from this machine`
        : `removed the token for ${origin} from this machine; it is valid until it expires or is revoked`
      : `no token was saved for ${origin}`,
  );
  if (profile !== undefined && hasProfile(settings, profile)) {
    await terminal.note(`removed the profile ${profile}`);
  }
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is still set`);
  }
}

/** The settings without a profile, or without the default plant store if it has this origin. */
function withoutTarget(
  settings: SavedSettings,
  profile: string | undefined,
  origin: string,
): SavedSettings {
  const { url = "", profiles = {} } = settings;
  if (profile !== undefined && hasProfile(settings, profile)) {
    const others = Object.entries(profiles).filter(([name]) => name !== profile);
    return { ...settings, profiles: Object.fromEntries(others) };
  }
  if (!URL.canParse(url) || toEndpoint(url).origin !== origin) return settings;
  return settings.profiles === undefined ? {} : { profiles };
}

/** A broken file counts as a token. */
function hasCommand(directory: string, origin: string): boolean {
  try {
    return readCredential(directory, origin)?.command !== undefined;
  } catch {
    return false;
  }
}
