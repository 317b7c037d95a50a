/** What is said at the end of many creates: what came of them, why it ended, and how to go on. */
import type { StopCause } from "../../client/stop-cause.ts";
import { sayError } from "./answer-output.ts";
import { toExitCode, toFailure } from "../failure.ts";
import { toInputName } from "../input.ts";
import { type LoneContext, toDetails } from "./lone-answer.ts";
import type { CommandError } from "../command-error.ts";
import type { RecordPlace } from "./record-input.ts";
import type { Reporter } from "../output/reporter.ts";

/**
 * How to go on.
 *
 * @param place of the first record that nothing was told of
 * @param paths of all inputs
 * @param canRepeat whether to begin again would do as well
 */
export function describeWayOn(
  { path, line }: RecordPlace,
  paths: readonly string[],
  canRepeat: boolean,
): string {
  const inputs = paths.length > 1 ? ` and the inputs from ${toInputName(path)} on` : "";
  const repetition = canRepeat ? ", or repeat the same command" : "";
  return `go on with --from-line ${line}${inputs}${repetition}`;
}

/**
 * Says why it ended early.
 *
 * @returns the exit code
 */
export async function sayStopCause(
  cause: StopCause | CommandError,
  wayOn: string,
  context: Pick<LoneContext, "tokenSource" | "baseUrl">,
  reporter: Reporter,
): Promise<number> {
  if ("ok" in cause) {
    await sayError(cause.error, [...toDetails(cause, context), wayOn], reporter);
    return toExitCode(cause.error.error);
  }
  const { message = "", exitCode } = toFailure(cause);
  await reporter.error(`${message}; ${wayOn}`);
  return exitCode;
}
