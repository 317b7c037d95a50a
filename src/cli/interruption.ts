/** Work that SIGINT and SIGTERM end, with the exit code of the signal. */
import { CommandError, toExitName } from "./command-error.ts";
import type { Io } from "./io.ts";

/**
 * Does work that a signal may end.
 *
 * @param work gets a signal, and is to throw its reason once it is aborted: a CommandError that says so
 * @param consequence what that means, such as `nothing was saved`; continues the sentence
 */
export async function interruptible<T>(
  io: Io,
  work: (signal: AbortSignal) => Promise<T>,
  consequence?: string,
): Promise<T> {
  const interruption = new AbortController();
  const releaseSignals = io.onSignal((name) => {
    const meaning = consequence === undefined ? "" : `: ${consequence}`;
    interruption.abort(new CommandError(toExitName(name), `stopped by ${name}${meaning}`));
  });
  try {
    return await work(interruption.signal);
  } finally {
    releaseSignals();
  }
}
