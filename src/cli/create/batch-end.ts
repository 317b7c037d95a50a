/** What is said at the end of many creates: what came of them, why it ended, and how to go on. */
import { NotAPlantStoreError, UnavailableError } from "../../client/client-error.ts";
import type { StopCause } from "../../client/stop-cause.ts";
import { sayError } from "./answer-output.ts";
import { toExitCode, toFailure } from "../failure.ts";
import { toInputName } from "../input.ts";
import { type LoneContext, toDetails } from "./lone-answer.ts";
import type { PlantSource } from "./plant-source.ts";
import type { RecordPlace } from "./record-input.ts";
import type { Reporter } from "../output/reporter.ts";

/**
 * How to go on, for those who do not want to begin again.
 *
 * @param place of the first record that nothing was told of
 */
export function describeWayOn({ path, line }: RecordPlace, source: PlantSource): string {
  const isOneOfSeveral = source.from === "inputs" && source.paths.length > 1;
  const inputs = isOneOfSeveral ? ` and the inputs from ${toInputName(path)} on` : "";
  return `go on with --from-line ${line}${inputs}, or repeat the same command`;
}

/**
 * Says why other plants would fare no better.
 *
 * @returns the exit code
 */
export async function sayStopCause(
  cause: StopCause,
  wayOn: string,
  context: Pick<LoneContext, "tokenSource" | "baseUrl">,
  reporter: Reporter,
): Promise<number> {
  if (cause instanceof UnavailableError || cause instanceof NotAPlantStoreError) {
    const { message = "", exitCode } = toFailure(cause);
    await reporter.error(`${message}; ${wayOn}`);
    return exitCode;
  }
  await sayError(cause.error, [...toDetails(cause, context), wayOn], reporter);
  return toExitCode(cause.error.error);
}
