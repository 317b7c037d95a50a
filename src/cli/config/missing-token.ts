/** Explains what to do without a token. */
import { toEndpoint } from "../../core/base-url.ts";
import { toShellWord } from "../../core/messages.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import { findLocalServer } from "../../client/probe.ts";
import { listSavedOrigins } from "./saved-tokens.ts";
import { findConfigDirectory } from "./directories.ts";

/** Maximum number of origins in a message; `status` shows all. */
const maxShown = 3;

/** Names some origins of saved tokens. Each server on a free port leaves one. */
export function toShortList(origins: readonly string[]): string {
  const shown = origins.slice(0, maxShown);
  const others = origins.length - shown.length;
  return shown.join(", ") + (others === 0 ? "" : ` and ${others} more`);
}

/**
 * Creates the error for a missing token: it says where the token of a server on this machine is, or that no server runs.
 *
 * @throws the signal's reason, once it is aborted
 */
export async function explainMissingToken(
  baseUrl: string,
  io: Io,
  signal: AbortSignal,
): Promise<CommandError> {
  const origins = await listSavedOrigins(findConfigDirectory(io), io);
  const similar = origins.find(
    (origin) => toAddress(origin) === toAddress(toEndpoint(baseUrl).origin),
  );
  if (similar !== undefined) {
    const message = `no token for ${baseUrl}, but one is saved for ${similar}: did you mean that URL?`;
    return new CommandError("tokenRejected", message);
  }
  const known = origins.length === 0 ? "" : ` (saved: ${toShortList(origins)})`;
  const server = await findLocalServer(baseUrl, signal);
  if (server === "none") {
    const message = `no plant store runs at ${baseUrl}: start one with "plantstore serve", or set --url${known}`;
    return new CommandError("unavailable", message);
  }
  const login = `"plantstore login --url ${toShellWord(baseUrl)}"`;
  return new CommandError(
    "tokenRejected",
    `no token for ${baseUrl}${known}: ${advice[server](login)}`,
  );
}

/** Host and port, equal for origins that differ only in the scheme or in the name of this machine. */
function toAddress(origin: string): string {
  return origin.replace(/^https?:\/\//, "").replace(/^(?:localhost|\[::1\])(?=:|$)/, "127.0.0.1");
}

const variables = "PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE";
/** Advice on a missing token, by the server. */
const advice = {
  volatile: (login: string) =>
    `the server printed its token when it started. Pass it to ${login}, or set ${variables}`,
  durable: (login: string) =>
    `the server runs, and its owner can issue one with "plantstore token issue". Pass it to ${login}, or set ${variables}`,
  unknown: (login: string) => `run ${login}, or set ${variables}`,
} as const;
