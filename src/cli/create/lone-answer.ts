/** Prints what came of a single plant: the Plant or the Error. */
import { quoteInput } from "../../core/quote.ts";
import { NotAPlantStoreError, UnavailableError } from "../../client/client-error.ts";
import type { RecordResult } from "../../client/create-plants.ts";
import type { StopCause } from "../../client/stop-cause.ts";
import type { CreateOutcome } from "../../client/create-plant.ts";
import { RequestError } from "../../core/errors.ts";
import { printError, printPlant } from "./answer-output.ts";
import { exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../failure.ts";
import type { Io } from "../io.ts";
import type { Reporter } from "../output/reporter.ts";

/** What came of a single plant. */
export type LoneResult = RecordResult | StopCause;

/** Where it came from, and where it went to. */
export interface LoneContext {
  /** What to call the input; undefined: flags, which messages name one by one. */
  readonly place: string | undefined;
  readonly tokenSource: string;
  readonly baseUrl: string;
  readonly isQuiet: boolean;
}

/**
 * Prints it.
 *
 * @returns the exit code
 * @throws UnavailableError, NotAPlantStoreError when that is what came of it; OutputError
 */
export async function printLone(
  result: LoneResult,
  context: LoneContext,
  io: Io,
  reporter: Reporter,
): Promise<number> {
  if (result instanceof UnavailableError || result instanceof NotAPlantStoreError) throw result;
  if (result instanceof RequestError) {
    await printError(
      result,
      context.place === undefined ? [] : [`in ${context.place}`],
      io,
      reporter,
    );
    return exitCodes.invalidPlant.code;
  }
  if (result.ok) {
    if (!context.isQuiet) await printPlant(result, io, reporter);
    return exitCodes.done.code;
  }
  await printError(result.error, toDetails(result, context), io, reporter);
  return toExitCode(result.error.error);
}

/** What a sentence about an Error adds to it. */
export function toDetails(
  { error, attempts, requestId }: CreateOutcome & { readonly ok: false },
  { tokenSource, baseUrl }: Pick<LoneContext, "tokenSource" | "baseUrl">,
): string[] {
  const exitCode = toExitCode(error.error);
  const details = [];
  if (exitCode === exitCodes.tokenRefused.code) details.push(`the token came from ${tokenSource}`);
  if (exitCode === exitCodes.notAPlantStore.code) {
    details.push(`check the path of --url, which is ${baseUrl}`);
  }
  if (attempts > 1) details.push(`after ${attempts} attempts`);
  if (requestId !== undefined) details.push(`request ${quoteInput(requestId, 128)}`);
  return details;
}
