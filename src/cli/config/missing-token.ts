/** Explains what to do without a token. */
import { isLocalUrl } from "../../core/base-url.ts";
import { toShellWord } from "../../core/messages.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import { checkReadiness, type Readiness } from "../../client/probe.ts";
import type { UnavailableError } from "../../client/results.ts";
import { readDefaultUrl } from "../options/values.ts";
import { listSavedOrigins } from "./saved-tokens.ts";
import { findConfigDirectory } from "./directories.ts";

/** Limit for the request to a server of this machine. */
const localTimeoutMs = 1000;

/** Finds the error for a missing token: it says how to get one, or that no server runs on this machine. */
export async function explainMissingToken(
  baseUrl: string,
  io: Io,
  signal: AbortSignal,
): Promise<CommandError | UnavailableError> {
  const isDefault = readDefaultUrl(io)?.value === baseUrl;
  const login = `plantstore login${isDefault ? "" : ` --url ${toShellWord(baseUrl)}`}`;
  const origins = await listSavedOrigins(findConfigDirectory(io));
  const server = isLocalUrl(baseUrl)
    ? await checkReadiness({ baseUrl, timeoutMs: localTimeoutMs, signal })
    : undefined;
  const cause = server?.state === "unknown" ? server.cause : undefined;
  if (cause?.reason === "refused") return cause;
  const known = origins.length === 0 ? "" : ` (saved: ${origins.join(", ")})`;
  const advice = `no token for ${baseUrl}${known}: ${adviseLogin(login, server)}`;
  return new CommandError(
    "tokenRejected",
    `${advice}, or set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE`,
  );
}

function adviseLogin(login: string, server: Readiness | undefined): string {
  if (server?.state !== "ready") return `run "${login}"`;
  return server.isVolatile
    ? `its token is the one that it printed when it started, or its PLANTSTORE_TOKEN: pass it to "${login}"`
    : `run "plantstore token issue | ${login}" as the owner of its store`;
}
