/** The commands `login` and `logout`. */
import { findTokenProblem } from "../../auth/token.ts";
import { checkToken } from "../../client/probe.ts";
import { toEndpoint } from "../../core/base-url.ts";
import { toShellWord } from "../../core/messages.ts";
import {
  adviseCommand,
  CommandError,
  commonExitCodes,
  interruptible,
  requestExitCodes,
  serverExitCodes,
  UsageError,
} from "../command-error.ts";
import { findServerProblem, toCheckError, explainFailure } from "../command-failure.ts";
import { type CommandBody, describeVariables, type Run, serverFlagAdvice } from "../command.ts";
import { findConfigDirectory, readSavedSettings, saveSettings } from "../config/saved-settings.ts";
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

const operandAdvice = ["select the server with --url"] as const;
const configDirectory = describeVariables("PLANTSTORE_CONFIG_DIR");

export const loginCommand: CommandBody = {
  description: `Saves a token for a plant store and makes that plant store the default of create,
list, get, export and delete. The token is never sent to another origin. The
certificates of --cacert are saved with it.

Reads the token from --token-file, from a prompt that does not show it, or from
standard input; on a terminal, a saved token that still works is used without
asking. Checks first that a plant store is there, and then whether the token
works, without creating a plant.`,
  options: loginOptions,
  examples: [
    "plantstore login",
    "plantstore login --url https://plants.example.org/v1",
    "plantstore login --token-file plants.token",
    "plantstore token issue | plantstore login",
  ],
  environment: configDirectory,
  exitCodes: requestExitCodes,
  tokenAdvice: "type it when login asks for it, or pass --token-file FILE (- is standard input)",
  operandAdvice,
  flagAdvice: serverFlagAdvice,
  run: runLogin,
};

export const logoutCommand: CommandBody = {
  description: `Removes the last login from this machine, or the one to --url, with its token and
certificates. The server that "plantstore serve" saved is the default again. The token
stays valid until it expires, or until "plantstore token revoke" revokes it.`,
  options: urlOption,
  examples: ["plantstore logout", "plantstore logout --url https://plants.example.org/v1"],
  environment: configDirectory,
  exitCodes: { ...commonExitCodes, usage: serverExitCodes.usage },
  tokenAdvice: "select the server with --url",
  operandAdvice,
  run: runLogout,
};

type LoginOptions = Values<typeof loginOptions>;

async function runLogin(run: Run): Promise<void> {
  const { flags, io, terminal } = run;
  const options = readOptions(loginOptions, flags, io);
  if (flags["cacert"] && !options.url.startsWith("https:")) {
    throw new UsageError(`--cacert is for https, and the URL is ${options.url}: remove --cacert`);
  }
  const work = (signal: AbortSignal) => logIn(options, run, signal);
  await interruptible(io, work, () => "nothing was saved");
  await terminal.success(`logged in to ${options.url}, which is now the default`);
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE", "PLANTSTORE_URL"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is set, and overrides saved values`);
  }
}

async function logIn(options: LoginOptions, run: Run, signal: AbortSignal): Promise<void> {
  const { io, terminal } = run;
  const { url, timeoutMs, tokenFile = "-" } = options;
  const directory = findConfigDirectory(io);
  const { origin } = toEndpoint(url);
  // First, so that a problem of saving shows before the user types a token.
  const saved = readCredential(directory, origin, io);
  readSavedSettings(directory);
  const ca = await findAuthorities(options, io, signal);
  await warnAboutPlaintext(url, terminal);
  const post = await selectPost(options, terminal);

  async function check(found?: FoundToken): Promise<CommandError | undefined> {
    const context = { url, source: run, token: found };
    const send = () =>
      checkToken({ baseUrl: url, ca, timeoutMs, token: found?.token, signal, post });
    try {
      const result = await terminal.showWhile(() => `waiting for ${url}`, send);
      if (found === undefined) return findServerProblem(result, context);
      if (!result.isAccepted) return toCheckError(result.response, context);
      if (!result.mayCreate) await terminal.warning("the token may not create plants");
      return undefined;
    } catch (error) {
      return explainFailure(error, run);
    }
  }

  const isTyped = tokenFile === "-" && io.stdin.isTTY === true;
  // First without the token: another server never gets it, and a user with a wrong URL need not type it.
  const serverProblem = await check();
  if (serverProblem !== undefined) throw addHint(serverProblem);
  let token = isTyped && options.tokenFile === undefined ? saved?.token : undefined;
  const savedProblem = token && (await check({ token, source: "the last login" }));
  if (savedProblem && savedProblem.exit !== "tokenRejected") throw addHint(savedProblem);
  if (token === undefined || savedProblem) {
    const given = await readToken(isTyped ? undefined : tokenFile, url, run, signal);
    const problem = await check(given);
    if (problem !== undefined) throw addHint(problem);
    token = given.token;
  }
  signal.throwIfAborted();
  // The certificates in PLANTSTORE_CACERT are of no use for http.
  const savedCa = url.startsWith("https:") ? ca : undefined;
  await saveToken(directory, { origin, token, ca: savedCa }, io);
  await saveSettings(directory, { login: url });
}

function addHint(cause: CommandError): CommandError {
  const { exit, message, number, hints } = cause;
  return new CommandError(exit, message, { cause, number, hints: ["nothing was saved", ...hints] });
}

/** @param path undefined to ask on the terminal */
async function readToken(
  path: string | undefined,
  url: string,
  { io, terminal }: Run,
  signal: AbortSignal,
): Promise<FoundToken> {
  const question = `Token for ${url} (it is not shown): `;
  const found =
    path === undefined
      ? { token: await askSecret(question, io, signal), source: "the terminal" }
      : await terminal.showWhile(
          () => "reading the token",
          () => readTokenFile(path, io, signal),
        );
  const problem = findTokenProblem(found.token);
  if (problem) throw new CommandError("tokenRejected", `the token from ${found.source} ${problem}`);
  return found;
}

/** Reports the new default, and which tokens are left. */
async function runLogout({ flags, io, terminal }: Run): Promise<void> {
  const directory = findConfigDirectory(io);
  const { value: url = "", source, savedBy } = readOption(urlOption.url, flags["url"], io);
  const before = readDefaultUrl(io)?.value;
  // The token that serve has saved needs no login. Repeating a logout must not remove it.
  const isLoggedOut = source === "the default" || savedBy === "serve";
  await terminal.success(
    isLoggedOut
      ? "not logged in: nothing was removed"
      : await removeLogin(toEndpoint(url).origin, directory),
  );
  const current = readDefaultUrl(io)?.value;
  if (current !== undefined && current !== before) {
    await terminal.note(`the default server is now ${current}`);
  }
  const origins = await listSavedOrigins(directory);
  const [origin] = origins;
  if (origin === undefined) {
    await terminal.note("no token is saved on this machine");
  } else {
    const advice = adviseCommand("Remove one", `plantstore logout --url ${toShellWord(origin)}`);
    await terminal.note(`tokens are still saved for ${origins.join(", ")}`, ...advice);
  }
  for (const variable of ["PLANTSTORE_TOKEN", "PLANTSTORE_TOKEN_FILE"]) {
    if (io.env[variable]) await terminal.warning(`${variable} is still set`);
  }
}

async function removeLogin(origin: string, directory: string): Promise<string> {
  // First, so that unreadable settings do not stop a logout half-way.
  const { login = "" } = readSavedSettings(directory);
  const isRemoved = await removeToken(directory, origin);
  if (URL.canParse(login) && toEndpoint(login).origin === origin) {
    await saveSettings(directory, { login: undefined });
  }
  return isRemoved
    ? `removed the token for ${origin} from this machine; it is valid until it expires or is revoked`
    : `no token was saved for ${origin}`;
}
