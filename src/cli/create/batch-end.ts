/** What is said at the end of many creates: what came of them, why it ended, and how to go on. */
import type { StopCause } from "../../client/stop-cause.ts";
import { sayError } from "./answer-output.ts";
import { toExitCode, toFailure } from "../failure.ts";
import { toInputName } from "../input.ts";
import { type LoneContext, toDetails } from "./lone-answer.ts";
import type { CommandError } from "../command-error.ts";
import type { OutputError } from "../io.ts";
import type { RecordPlace } from "./record-input.ts";
import type { Reporter } from "../output/reporter.ts";

/** Where a run ended. */
interface RunEnd {
  /** Of the first record that is still to be created. */
  readonly place: RecordPlace;
  /** Of all inputs. */
  readonly paths: readonly string[];
  /** The file that has what was not created before that, if anything was not. */
  readonly rejectsPath: string | undefined;
  /** Whether to begin again would do as well. */
  readonly canRepeat: boolean;
}

/** How to go on; without the file of rejects nothing that failed is left behind. */
export function describeWayOn({ place, paths, rejectsPath, canRepeat }: RunEnd): string {
  const inputs = paths.length > 1 ? ` and the inputs from ${toInputName(place.path)} on` : "";
  const repetition = canRepeat ? ", or repeat the same command" : "";
  const rejects = rejectsPath === undefined ? "" : `; ${rejectsPath} has what was not created`;
  return `go on with --from-line ${place.line}${inputs}${repetition}${rejects}`;
}

/**
 * Says why it ended early.
 *
 * @returns the exit code
 */
export async function sayStopCause(
  cause: StopCause | CommandError | OutputError,
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
