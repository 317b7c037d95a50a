/** Creates the plant of flags, and prints the Plant or the Error of one plant. */
import { type Retry, sendPlant } from "../../../client/create-plant.ts";
import {
  isSendable,
  isTooLargeForProxy,
  type ItemResult,
  type StopCause,
  toItemResult,
  toLocalResult,
  UnavailableError,
} from "../../../client/results.ts";
import { findErrorRow, type RequestError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import { isError } from "../../../core/messages.ts";
import { type NewPlant, toNewPlantJson, toPlantJson } from "../../../core/plant.ts";
import { toMemberValue, validateNewPlant } from "../../../core/read-plant.ts";
import { adviseCommand, exitCodes } from "../../command-error.ts";
import type { TokenOrigin } from "../../config/saved-tokens.ts";
import { OutputError } from "../../io.ts";
import { selectPost } from "../../server-access.ts";
import { type CreateRun, type PlantFlags, prepareRequest } from "./create-run.ts";

/** @returns the exit code, once the result is printed. @throws UnavailableError, NotAPlantStoreError, OutputError */
export async function sendFromFlags(run: CreateRun): Promise<number> {
  const { options, io, terminal, abort } = run;
  const { url, timeoutMs, retries, isDryRun, isQuiet, isVerbose } = options;
  const plant = readPlantFlags(options.plant);
  if (!isSendable(plant)) return printOne(toLocalResult(plant), {}, run);
  const { id } = plant;
  if (isDryRun) return printOne(toLocalResult(plant), { id }, run);
  const { request, token } = await prepareRequest(run);
  const warn = async (retry: Retry): Promise<void> => {
    const { describeUnavailable } = await import("../../command-failure.ts");
    await terminal.warning(`${describeUnavailable(retry, url)}, retrying`);
  };
  const onRetry = (retry: Retry): void => {
    if (retry.attempt === 1 && io.stderr.isTTY) void warn(retry);
  };
  const post = await selectPost(options, terminal);
  const sendOptions = { request, timeoutMs, retries, post, signal: abort, onRetry };
  const work = () => sendPlant(toNewPlantJson(plant), sendOptions);
  run.inDoubt = "one";
  const sending =
    isQuiet || isVerbose ? work() : terminal.showWhile(() => `waiting for ${url}`, work);
  const answer = await sending.catch((error: unknown) => {
    // A limit of a proxy rejects the plant.
    if (error instanceof UnavailableError || isTooLargeForProxy(error)) return error;
    throw error;
  });
  const response = isError(answer) || answer.ok ? undefined : answer;
  return printOne(toItemResult(answer), { id, token, response }, run);
}

function readPlantFlags(flags: PlantFlags): NewPlant | RequestError {
  const members = new Map<string, JsonValue>();
  for (const [member, text] of Object.entries(flags)) {
    if (text !== undefined) members.set(member, toMemberValue(member, text));
  }
  return validateNewPlant(members, [], (member) => `--${member}`);
}

const confirmations = {
  created: (plant: string) => `created ${plant}`,
  unchanged: (plant: string) => `unchanged: ${plant} was already in the store`,
  replaced: (plant: string) => `replaced ${plant}: another plant had this id`,
  valid: (plant: string) => `${plant} is valid; nothing was sent`,
} as const;

interface ResultContext {
  readonly id?: bigint | undefined;
  /** Undefined if no token was sent. */
  readonly token?: TokenOrigin | undefined;
  /** The response with the Error. It says more than the result: attempts, and how long to wait. */
  readonly response?: StopCause | undefined;
  /** Added to the message of an Error. */
  readonly details?: readonly string[];
}

/** Prints the Plant or the Error of one plant. @returns the exit code. @throws UnavailableError, OutputError */
export async function printOne(
  result: ItemResult,
  { id, token, response, details = [] }: ResultContext,
  run: CreateRun,
): Promise<number> {
  if (result.ok) {
    await printCreated(result, id, run);
    return exitCodes.done.code;
  }
  const { error: rejection } = result;
  if (rejection instanceof UnavailableError) {
    if (run.options.json) await printOnStdout(result, id, run);
    throw rejection;
  }
  const { adviseToken, toDetails, toExitCode } = await import("../../command-failure.ts");
  const context = { url: run.options.url, source: run, token };
  const added = toDetails(response ?? result, context);
  const hints = adviseToken(rejection, context);
  await printRejection(result, id, [...added, ...details], hints, run);
  return rejection.error === undefined ? exitCodes.invalidPlant.code : toExitCode(rejection.error);
}

/**
 * Prints a line on stdout: with `--json` as a bulk create, otherwise the Plant or the Error.
 *
 * @param explain says what is lost if stdout cannot be written, unless its reader has closed it and wants no more messages
 * @throws OutputError
 */
async function printOnStdout(
  result: ItemResult,
  id: bigint | undefined,
  { options, terminal }: CreateRun,
  explain?: () => Promise<void>,
): Promise<void> {
  try {
    if (options.json) {
      const { toResultLine } = await import("./result-report.ts");
      await terminal.printLines([toResultLine(id, result)]);
    } else if (result.ok) {
      await terminal.printLines([toPlantJson(result.plant)]);
    } else if (result.error.error !== undefined) {
      // A record that only --strict rejects breaks no rule of the service, so there is no Error.
      const { error, message } = result.error;
      await terminal.printLines([JSON.stringify({ error, message })]);
    }
  } catch (error) {
    if (error instanceof OutputError && !error.isClosed) await explain?.();
    throw error;
  }
}

async function printCreated(
  result: Extract<ItemResult, { readonly ok: true }>,
  id: bigint | undefined,
  run: CreateRun,
): Promise<void> {
  const { io, terminal, options } = run;
  if (options.isQuiet) return;
  const isValid = result.status === "valid";
  await printOnStdout(result, id, run, async () => {
    if (!isValid) await terminal.note("the plant is in the store, but cannot be printed");
  });
  const sentence = confirmations[result.status](`plant ${id}`);
  if (io.stderr.isTTY === true || isValid) await terminal.success(sentence);
}

async function printRejection(
  result: Extract<ItemResult, { readonly ok: false }>,
  id: bigint | undefined,
  details: readonly string[],
  hints: readonly string[],
  run: CreateRun,
): Promise<void> {
  const { io, terminal } = run;
  const { toErrorSentence } = await import("../../command-failure.ts");
  const { error } = result.error;
  const report = () => terminal.error(toErrorSentence(result.error, details), error);
  await printOnStdout(result, id, run, report);
  // The user has read the JSON already.
  if (io.stdout.isTTY && io.stderr.isTTY && error !== undefined && findErrorRow(error)) {
    await terminal.error(details.join("; ") || "the plant was not created", error);
    const explain = adviseCommand("See how to fix it", `plantstore explain ${error}`);
    await terminal.note(...(hints.length > 0 ? hints : explain));
  } else {
    await report();
    await terminal.note(...hints);
  }
}
