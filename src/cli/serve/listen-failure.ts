/** Why a server can't listen where it is told to, and what to do. */
import { type ListenAddress, maxSocketPathBytes } from "../../server/http/listen.ts";
import { CommandError } from "../command-error.ts";

/** The flags that choose an address and a port. */
interface PlaceFlags {
  readonly host: string;
  readonly port: string;
}

/**
 * Explains an error of listening.
 *
 * @param flags with which another place is chosen; by default those of the server itself
 * @returns undefined when that is not what failed
 */
export function explainListening(
  error: unknown,
  place: ListenAddress,
  flags: PlaceFlags = { host: "--host", port: "--port" },
): CommandError | undefined {
  const explanation = toExplanation((error as NodeJS.ErrnoException).code, place, flags);
  if (explanation === undefined) return undefined;
  return new CommandError("internal", explanation, { cause: error });
}

function toExplanation(
  code: string | undefined,
  { host, port, socketPath }: ListenAddress,
  flags: PlaceFlags,
): string | undefined {
  if (socketPath !== undefined) {
    if (code === "EADDRINUSE") {
      return `something listens on ${socketPath} or is in its place: choose another with --socket`;
    }
    if (code === undefined || !/^E[A-Z]+$/.test(code)) return undefined;
    return `${socketPath} can't be made (${code}): choose a path of at most ${maxSocketPathBytes} bytes in a directory that is there and where you may write`;
  }
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use: stop what listens there, or choose another with ${flags.port} (port 0 takes a free one)`;
    case "EACCES":
      return `this user may not listen on port ${port}: choose one above 1023 with ${flags.port}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is no address of this machine: choose another with ${flags.host}`;
    default:
      return undefined;
  }
}
