/** Explains why a server cannot listen. */
import { maxSocketPathBytes } from "../../../core/base-url.ts";
import { hasTooManyFiles } from "../../../core/store.ts";
import type { ListenAddress } from "../../../server/http/listen.ts";
import { CommandError } from "../../command-error.ts";

/**
 * Explains an error of listening.
 *
 * @param flag the flag for another address; by default those of the server itself
 * @returns undefined for any other error
 */
export function explainListening(
  error: unknown,
  place: ListenAddress,
  flag?: string,
): CommandError | undefined {
  // The address is not the reason.
  if (hasTooManyFiles(error)) return undefined;
  const explanation = toExplanation((error as NodeJS.ErrnoException).code, place, flag);
  if (explanation === undefined) return undefined;
  return new CommandError("internal", explanation, { cause: error });
}

/** Starts an explanation. */
export const portSharing = "--reuse-port lets processes share a port";

const systemCode = /^E[A-Z]+$/;

/** Problems with the path of a socket, by the code of the system. */
const socketProblems: Readonly<Record<string, string>> = {
  ENOTDIR: "its directory is a file",
  // Also for a missing directory: libuv converts ENOENT.
  EACCES: "its directory does not exist or is not writable",
  EROFS: "its disk is read-only",
  ENAMETOOLONG: "it is too long",
};

function toExplanation(
  code: string | undefined,
  { host, port, reusePort, socketPath, socketFd }: ListenAddress,
  flag: string | undefined,
): string | undefined {
  if (socketFd !== undefined) {
    if (code === undefined || !systemCode.test(code)) return undefined;
    return `cannot listen on the socket in LISTEN_FDS (${code}): pass a TCP or Unix socket that listens, as Accept=no does`;
  }
  if (socketPath !== undefined) {
    if (code === "EADDRINUSE") {
      return `${socketPath} is in use or is another kind of file: choose another path with --socket`;
    }
    if (code === undefined || !systemCode.test(code)) return undefined;
    return `cannot create ${socketPath} (${socketProblems[code] ?? code}): choose a path of at most ${maxSocketPathBytes} bytes in an existing, writable directory`;
  }
  switch (code) {
    case "ENOTSUP":
      return `${portSharing}, which this system does not support: remove it`;
    case "EADDRINUSE":
      if (reusePort === true && flag === undefined) {
        return `port ${port} is already in use on ${host} by a process without --reuse-port, or of another user: stop it`;
      }
      return `port ${port} is already in use on ${host}: stop the other process, or choose another port with ${flag ?? "--port"} (0 selects a free port)`;
    case "EACCES":
      return `not permitted to listen on port ${port}: choose a port above 1023 with ${flag ?? "--port"}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine: choose another with ${flag ?? "--host"}`;
    default:
      return undefined;
  }
}
