/** Finds the token to send: from a file, the environment, or what was saved. Never from the command line. */
import { toTokenPrefix } from "../../auth/token-format.ts";
import { listSavedOrigins, readSavedToken, toCredentialFile } from "./credentials.ts";
import { CommandError } from "../command-error.ts";
import { findConfigDirectory } from "../settings/directories.ts";
import { readFileBytes, readInputBytes, toInputName } from "../input.ts";
import type { Io } from "../io.ts";
import { findTokenProblem, trimToken } from "../../auth/token-text.ts";

/** A token, and where it came from, for the message should it be refused. */
export interface FoundToken {
  readonly token: string;
  /** As `PLANTSTORE_TOKEN` or `the file token.txt`. */
  readonly source: string;
}

/** Of the origins that have a token; all of them are shown by `status`. */
const maxShown = 3;
/** Far more than any header may have. */
const maxTokenBytes = 64 * 1024;

/**
 * The token for a plant store: that of `--token-file`, PLANTSTORE_TOKEN, PLANTSTORE_TOKEN_FILE, or what was saved for
 * exactly the origin of `baseUrl`.
 *
 * @param tokenFile `-` is the standard input
 * @throws CommandError when there is none, or the one found can't be read or can't be a token
 */
export async function findToken(
  tokenFile: string | undefined,
  baseUrl: string,
  io: Io,
  signal: AbortSignal,
): Promise<FoundToken> {
  const found =
    (await readTokenFile(tokenFile, io, signal)) ??
    (await readEnvironment(io, signal)) ??
    (await readSaved(new URL(baseUrl).origin, io));
  if (found === undefined) throw await missing(baseUrl, io);
  const problem = findTokenProblem(found.token);
  if (problem) throw new CommandError("tokenRefused", `the token from ${found.source} ${problem}`);
  return found;
}

async function readTokenFile(
  path: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<FoundToken | undefined> {
  if (path === undefined) return undefined;
  if (toTokenPrefix(path) !== "") {
    throw new CommandError(
      "usage",
      "--token-file is a token, which other users of this machine can read in command lines: give the file that holds it",
    );
  }
  if (path !== "-") return readFileAsToken(path, `the file ${toInputName(path)}`, signal);
  return { token: await readInputToken(io, signal), source: "standard input" };
}

/**
 * The token that the standard input is.
 *
 * @throws CommandError when it can't be read
 * @throws the signal's reason, once it is aborted
 */
export async function readInputToken({ stdin }: Io, signal: AbortSignal): Promise<string> {
  return toToken(await readInputBytes(stdin, maxTokenBytes, signal));
}

async function readEnvironment({ env }: Io, signal: AbortSignal): Promise<FoundToken | undefined> {
  const token = env["PLANTSTORE_TOKEN"];
  if (token) return { token: trimToken(token), source: "PLANTSTORE_TOKEN" };
  const path = env["PLANTSTORE_TOKEN_FILE"];
  if (!path) return undefined;
  if (toTokenPrefix(path) !== "") {
    throw new CommandError(
      "usage",
      "PLANTSTORE_TOKEN_FILE is a token: it must be the file that holds it; a token is for PLANTSTORE_TOKEN",
    );
  }
  return readFileAsToken(path, `the file ${path} that PLANTSTORE_TOKEN_FILE names`, signal);
}

async function readSaved(origin: string, io: Io): Promise<FoundToken | undefined> {
  const directory = findConfigDirectory(io);
  const token = readSavedToken(directory, origin);
  if (token === undefined) return undefined;
  return { token, source: toCredentialFile(directory, origin) };
}

async function readFileAsToken(
  path: string,
  source: string,
  signal: AbortSignal,
): Promise<FoundToken> {
  return { token: toToken(await readFileBytes(path, source, maxTokenBytes, signal)), source };
}

function toToken(bytes: Uint8Array): string {
  return trimToken(new TextDecoder().decode(bytes));
}

/** Each server on a free port has left one behind. */
function toShortList(origins: readonly string[]): string {
  const shown = origins.slice(0, maxShown);
  const others = origins.length - shown.length;
  return shown.join(", ") + (others === 0 ? "" : ` and ${others} more`);
}

async function missing(baseUrl: string, io: Io): Promise<CommandError> {
  const origins = await listSavedOrigins(findConfigDirectory(io));
  const known = origins.length === 0 ? "" : ` (there is one for ${toShortList(origins)})`;
  return new CommandError(
    "tokenRefused",
    `no token for ${baseUrl}${known}: "plantstore login" saves one, as "plantstore serve" does for this machine; or set PLANTSTORE_TOKEN, or give --token-file`,
  );
}
