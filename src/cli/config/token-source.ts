/** Finds the token to send: in a file, the environment or the saved tokens, never on the command line. */
import { findTokenProblem, toTokenPrefix, trimToken } from "../../auth/token.ts";
import { toEndpoint } from "../../core/base-url.ts";
import { toInputName } from "../../core/messages.ts";
import { CommandError } from "../command-error.ts";
import { assertEnvironmentPath, findConfigDirectory } from "./saved-settings.ts";
import type { TokenOrigin } from "./saved-tokens.ts";
import type { Io } from "../io.ts";

export interface FoundToken extends TokenOrigin {
  readonly token: string;
}

/** Far above the limit of headers. */
const maxTokenBytes = 64 * 1024;

/**
 * Finds the token for a plant store: from `--token-file`, PLANTSTORE_TOKEN, PLANTSTORE_TOKEN_FILE, or the saved token for
 * exactly the origin of `baseUrl`.
 */
export async function findToken(
  tokenFile: string | undefined,
  baseUrl: string,
  io: Io,
  signal: AbortSignal,
): Promise<FoundToken> {
  const found =
    (tokenFile === undefined ? undefined : await readTokenFile(tokenFile, io, signal)) ??
    (await readEnvironment(io, signal)) ??
    (await readSavedToken(toEndpoint(baseUrl).origin, io));
  if (found === undefined) {
    const { explainMissingToken } = await import("../command-failure.ts");
    throw await explainMissingToken(baseUrl, io, signal);
  }
  const problem = findTokenProblem(found.token);
  if (problem) throw new CommandError("tokenRejected", `the token from ${found.source} ${problem}`);
  return found;
}

export async function readTokenFile(
  path: string,
  io: Io,
  signal: AbortSignal,
): Promise<FoundToken> {
  const advice = ", because other users of this machine can read command lines";
  assertNoToken(path, "--token-file", advice);
  const name = toInputName(path);
  return readInput(path, path === "-" ? name : `the file ${name}`, io, signal);
}

async function readEnvironment(io: Io, signal: AbortSignal): Promise<FoundToken | undefined> {
  const { env } = io;
  const token = env["PLANTSTORE_TOKEN"];
  if (token) return { token: trimToken(token), source: "PLANTSTORE_TOKEN" };
  const path = env["PLANTSTORE_TOKEN_FILE"];
  if (!path) return undefined;
  assertNoToken(path, "PLANTSTORE_TOKEN_FILE", "; set PLANTSTORE_TOKEN to the token itself");
  assertEnvironmentPath("PLANTSTORE_TOKEN_FILE", path, io);
  return readInput(path, `the file ${path} in PLANTSTORE_TOKEN_FILE`, io, signal);
}

/** @param advice continues the sentence */
function assertNoToken(path: string, name: string, advice: string): void {
  if (toTokenPrefix(path) === "") return;
  throw new CommandError("usage", `${name} must be the file that contains the token${advice}`);
}

async function readSavedToken(origin: string, io: Io): Promise<FoundToken | undefined> {
  const { readCredential, toTokenFile } = await import("./saved-tokens.ts");
  const directory = findConfigDirectory(io);
  const saved = readCredential(directory, origin, io);
  return saved && { token: saved.token, source: toTokenFile(directory, origin), isSaved: true };
}

async function readInput(
  path: string,
  source: string,
  io: Io,
  signal: AbortSignal,
): Promise<FoundToken> {
  const { readBytes } = await import("../input.ts");
  const bytes = await readBytes(path, source, maxTokenBytes, io, signal);
  const { findForeignFormat } = await import("../../records/foreign-formats.ts");
  const format = findForeignFormat(bytes, path);
  if (format !== undefined) {
    const problem = `${source} is ${format.name}: a token is plain text in UTF-8`;
    throw new CommandError("tokenRejected", problem);
  }
  return { token: trimToken(new TextDecoder().decode(bytes)), source };
}
