/** The commands `login` and `logout`. */
import { existsSync } from "node:fs";
import { findTokenProblem, toTokenPrefix } from "../../auth/token.ts";
import { checkToken } from "../../client/probe.ts";
import { toEndpoint } from "../../core/base-url.ts";
import {
  CommandError,
  commonExitCodes,
  exitCodes,
  interruptible,
  requestExitCodes,
  serverExitCodes,
  UsageError,
} from "../command-error.ts";
import { type CheckProblem, toProblem } from "../command-failure.ts";
import { type CommandBody, describeVariables, type Run, serverHints } from "../command.ts";
import { findConfigDirectory } from "../config/directories.ts";
import { readSavedSettings, saveSettings, toSettingsFile } from "../config/saved-settings.ts";
import {
  listSavedOrigins,
  readCredential,
  removeToken,
  saveToken,
} from "../config/saved-tokens.ts";
import { type FoundToken, readTokenFile } from "../config/token-source.ts";
import { loginOptions, urlOption } from "../options/remote.ts";
import { readDefaultUrl, readOption, readOptions, type Values } from "../options/values.ts";
import { findAuthorities, selectPost, warnAboutPlaintext } from "../server-access.ts";
import { askSecret } from "../terminal/prompts.ts";
import { findServerProblem, toErrorProblem } from "../server-check.ts";

const tokenAdvice = `run "plantstore login", which asks for it`;
const configDirectory = describeVariables("PLANTSTORE_CONFIG_DIR");

export const loginCommand: CommandBody = {
  description: `Saves a token for a plant store and makes that plant store the default. Reads
the token from --token-file, from a prompt that does not show it, or from
standard input; on a terminal, a saved token that still works is used without
asking. Checks first that a plant store is there, and then whether the token
works, without creating a plant. The token is never sent to another origin. The
certificates of --cacert are saved with the token.`,
  options: loginOptions,
  examples: [
    "plantstore login",
    "plantstore login --url https://plants.example.org/v1",
    "plantstore login --token-file plants.token",
    "plantstore token issue | plantstore login",
  ],
  environment: configDirectory,
  exitCodes: requestExitCodes,
  tokenAdvice,
  hints: serverHints,
  run: runLogin,
};

export const logoutCommand: CommandBody = {
  description: `Removes the saved token for a plant store from this machine, and the certificates
of its login: without --url, those of the default, which is then the default no
longer. Repeating it has no effect. The token stays valid until it expires or is revoked with
"plantstore token revoke".`,
  options: urlOption,
  examples: ["plantstore logout", "plantstore logout --url https://plants.example.org/v1"],
  environment: configDirectory,
  exitCodes: { ...commonExitCodes, usage: serverExitCodes.usage },
  tokenAdvice,
  run: runLogout,
};

type Options = Values<typeof loginOptions>;

async function runLogin(run: Run): Promise<number> {
  const { flags, io, terminal } = run;
  const options = readOptions(loginOptions, flags, io);
  if (flags["cacert"] && !options.url.startsWith("https:")) {
    throw new UsageError(`--cacert is for https, and the URL is ${options.url}: remove --cacert`);
  }
  const work = (signal: AbortSignal) => logIn(options, run, signal);
  const problem = await interruptible(io, work, "nothing was saved");
  if (problem !== undefined) {
    await terminal.error(problem.message, problem.number);
    for (const hint of problem.hints ?? []) await terminal.note(hint);
    return problem.exitCode;
  }
  await terminal.note(`Logged in to ${options.url} (now the default)`);
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is set, and overrides saved values`);
  }
  return exitCodes.done.code;
}

/**
 * Saves a token that the server accepts.
 *
 * @returns the problem with the server or the token; undefined once the token is saved
 * @throws CommandError for saved files that cannot be used, and for an input that has no token
 */
async function logIn(
  options: Options,
  run: Run,
  signal: AbortSignal,
): Promise<CheckProblem | undefined> {
  const { io } = run;
  const { url, tokenFile = "-" } = options;
  const directory = findConfigDirectory(io);
  // Reports problems of saving before the user types a token.
  readCredential(directory, toEndpoint(url).origin, io);
  readSavedSettings(directory);
  const ca = await findAuthorities(options, io, signal);
  const isTyped = tokenFile === "-" && io.stdin.isTTY === true;
  // Before the checks, so that their failure names a token that "token issue" may have just made.
  const readGiven = async () => assertToken(await readTokenFile(tokenFile, io, signal));
  const text = (): string => "reading the token";
  const given = isTyped ? undefined : await run.terminal.showWhile(text, readGiven);
  const token = await findAccepted({ ...options, ca }, given, run, signal).catch((error: unknown) =>
    toProblem(error, io),
  );
  if (typeof token !== "string") {
    return { ...token, hints: [`nothing was saved${adviseRevoking(given)}`] };
  }
  signal.throwIfAborted();
  // The certificates in PLANTSTORE_CACERT are of no use for http.
  const savedCa = url.startsWith("https:") ? ca : undefined;
  await saveToken(directory, { origin: toEndpoint(url).origin, token, ca: savedCa }, io);
  await saveSettings(directory, { url });
  return undefined;
}

function assertToken(found: FoundToken): FoundToken {
  const problem = findTokenProblem(found.token);
  if (problem) throw new CommandError("tokenRejected", `the token ${problem}`);
  return found;
}

function adviseRevoking(given: FoundToken | undefined): string {
  const prefix = given === undefined ? "" : toTokenPrefix(given.token);
  if (prefix === "") return "";
  return `; if "token issue" has just made this token, "plantstore token revoke ${prefix}" revokes it`;
}

/**
 * Returns the token if the server accepts it, or the problem.
 *
 * @param given undefined to use the saved token if it works, and to ask for one otherwise
 */
async function findAccepted(
  options: Options & { readonly ca: string | undefined },
  given: FoundToken | undefined,
  { io, terminal }: Run,
  signal: AbortSignal,
): Promise<string | CheckProblem> {
  const { url: baseUrl, timeoutMs, tokenFile, ca } = options;
  const { origin } = toEndpoint(baseUrl);
  const directory = findConfigDirectory(io);
  await warnAboutPlaintext(baseUrl, terminal);
  const post = await selectPost(options, terminal);
  const check = (token?: string) =>
    terminal.showWhile(
      () => `waiting for ${baseUrl}`,
      () => checkToken({ baseUrl, ca, timeoutMs, token, signal, post }),
    );
  // First without the token: another server never gets it, and a user with a wrong URL need not type it.
  const problem = findServerProblem(await check(), baseUrl, io);
  if (problem !== undefined) return problem;
  const isAsking = given === undefined;
  let token = isAsking && !tokenFile ? readCredential(directory, origin, io)?.token : undefined;
  if (token === undefined || !(await check(token)).isAccepted) {
    const question = `Token for ${baseUrl} (it is not shown): `;
    const found =
      given ??
      assertToken({ token: await askSecret(question, io, signal), source: "the terminal" });
    token = found.token;
    const result = await check(token);
    if (!result.isAccepted) return toErrorProblem(result.response, baseUrl, io, found.source);
  }
  return token;
}

/** Reports the new default, and which tokens are left. */
async function runLogout({ flags, io, terminal }: Run): Promise<void> {
  const directory = findConfigDirectory(io);
  const { value: url = "", source } = readOption(urlOption.url, flags["url"], io);
  const before = readDefaultUrl(io)?.value;
  // Only a logout saves settings without a URL. Another one must not remove the token of another server.
  const isLoggedOut = source === "the default" && existsSync(toSettingsFile(directory));
  await terminal.note(
    isLoggedOut
      ? "already logged out: nothing was removed"
      : await removeLogin(toEndpoint(url).origin, directory),
  );
  const current = readDefaultUrl(io)?.value;
  if (current !== undefined && current !== before) {
    await terminal.note(`the default server is now ${current}`);
  }
  const origins = await listSavedOrigins(directory);
  await terminal.note(
    origins.length === 0
      ? "no token is saved on this machine"
      : `tokens are still saved for ${origins.join(", ")}: "plantstore logout --url URL" removes one`,
  );
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is still set`);
  }
}

/** @returns a sentence about the result */
async function removeLogin(origin: string, directory: string): Promise<string> {
  // First, so that unreadable settings do not stop a logout half-way.
  const { url: savedUrl } = readSavedSettings(directory);
  const isRemoved = await removeToken(directory, origin);
  // Without a saved URL too: a server that starts later does not become the default.
  const defaultUrl = savedUrl ?? (isRemoved ? urlOption.url.default : "");
  if (URL.canParse(defaultUrl) && toEndpoint(defaultUrl).origin === origin) {
    await saveSettings(directory, {});
  }
  return isRemoved
    ? `removed the token for ${origin} from this machine; it is valid until it expires or is revoked`
    : `no token was saved for ${origin}`;
}
