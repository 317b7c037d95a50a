/** Finds the socket that a service manager passes to a server (socket activation, sd_listen_fds(3)). */
import { quoteInput } from "../../../core/quote.ts";
import { CommandError } from "../../command-error.ts";
import type { Io } from "../../io.ts";

/** The first descriptor that is passed, after stdin, stdout and stderr. */
const firstFd = 3;

/**
 * Finds the descriptor of the socket that was passed to this process.
 *
 * @returns undefined without one: `LISTEN_PID` of another process means that the variables were inherited
 * @throws CommandError for more than one socket
 */
export function findPassedSocket({
  env,
  processId,
}: Pick<Io, "env" | "processId">): number | undefined {
  const { LISTEN_FDS: count = "0", LISTEN_PID: owner } = env;
  if (owner !== String(processId) || count === "" || count === "0") return undefined;
  if (count === "1") return firstFd;
  throw new CommandError(
    "usage",
    `expected one socket but LISTEN_FDS is "${quoteInput(count)}": keep one Listen… line in the socket unit`,
  );
}
