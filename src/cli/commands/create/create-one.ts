/** Creates the plant of flags, and prints the Plant or the Error of one plant. */
import {
  type Attempted,
  type CreateRequest,
  type Retry,
  sendPlant,
} from "../../../client/create-plant.ts";
import {
  type CreateResponse,
  isSendable,
  isTooLargeForProxy,
  type ItemResult,
  type NotAPlantStoreError,
  toItemResult,
  toLocalResult,
  UnavailableError,
} from "../../../client/results.ts";
import { findErrorRow, type RequestError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import { isError } from "../../../core/messages.ts";
import { type NewPlant, toNewPlantJson, toPlantJson } from "../../../core/plant.ts";
import { toMemberValue, validateNewPlant } from "../../../core/read-plant.ts";
import { exitCodes } from "../../command-error.ts";
import { OutputError } from "../../io.ts";
import { selectPost } from "../../server-access.ts";
import { type CreateRun, type PlantFlags, prepareRequest } from "./create-run.ts";

/**
 * Creates the plant of flags.
 *
 * @returns the exit code, once the result is printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function sendOne(run: CreateRun): Promise<number> {
  const plant = readPlantFlags(run.options.plant);
  if (!isSendable(plant)) return printOne(toLocalResult(plant), {}, run);
  const { id } = plant;
  if (run.options.isDryRun) return printOne(toLocalResult(plant), { id }, run);
  const { request, tokenSource } = await prepareRequest(run);
  return printOne(await sendAndWait(plant, request, run), { id, tokenSource }, run);
}

/** Reads a plant from flags. @returns the plant, or a RequestError that names every broken rule */
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

/** The result of one plant, the last response, or the error without one. */
type Answer = ItemResult | Attempted<CreateResponse> | UnavailableError | NotAPlantStoreError;

/** What is known besides the answer. */
interface AnswerContext {
  readonly id?: bigint | undefined;
  /** Undefined if no token was sent. */
  readonly tokenSource?: string;
  /** Added to the message of an Error. */
  readonly details?: readonly string[];
}

/**
 * Prints the answer for one plant.
 *
 * @returns the exit code
 * @throws UnavailableError, OutputError
 */
export async function printOne(
  answer: Answer,
  { id, tokenSource, details = [] }: AnswerContext,
  run: CreateRun,
): Promise<number> {
  const isResult = !isError(answer) && "status" in answer;
  const result = isResult ? answer : toItemResult(answer);
  const response = isResult || isError(answer) ? undefined : answer;
  if (result.ok) {
    await printPlant(result, id, run);
    return exitCodes.done.code;
  }
  const { error: rejection, requestId } = result;
  if (rejection instanceof UnavailableError) {
    if (run.options.json) await printResult(result, id, run);
    throw rejection;
  }
  const { toDetails, toExitCode } = await import("../../command-failure.ts");
  const { error, message } = rejection;
  const context = { url: run.options.url, source: run, tokenSource };
  let added: readonly string[] = [];
  if (response?.ok === false) added = toDetails(response, context);
  else if (error !== undefined) {
    added = toDetails({ ok: false, error: { error, message }, requestId }, context);
  }
  await printError(result, id, [...added, ...details], run);
  return error === undefined ? exitCodes.invalidPlant.code : toExitCode(error);
}

/** Sends a plant. @returns the response, or the error without one; a limit of a proxy rejects the plant */
async function sendAndWait(
  plant: NewPlant,
  request: CreateRequest,
  run: CreateRun,
): Promise<Attempted<CreateResponse> | UnavailableError | NotAPlantStoreError> {
  const { options, io, terminal, abort } = run;
  const { url, timeoutMs, retries, isQuiet, isVerbose } = options;
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
  try {
    return await (isQuiet || isVerbose
      ? work()
      : terminal.showWhile(() => `waiting for ${url}`, work));
  } catch (error) {
    if (error instanceof UnavailableError || isTooLargeForProxy(error)) return error;
    throw error;
  }
}

/**
 * Prints a line on stdout: with `--json` as a bulk create, otherwise the Plant or the Error.
 *
 * @param explain prints what is lost if stdout cannot be written. Not for a closed output, whose reader wants no further messages
 * @throws OutputError
 */
async function printResult(
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

async function printPlant(
  result: Extract<ItemResult, { readonly ok: true }>,
  id: bigint | undefined,
  run: CreateRun,
): Promise<void> {
  const { io, terminal, options } = run;
  if (options.isQuiet) return;
  const isValid = result.status === "valid";
  await printResult(result, id, run, async () => {
    if (!isValid) await terminal.note("the plant is in the store, but cannot be printed");
  });
  const sentence = confirmations[result.status](`plant ${id}`);
  if (io.stderr.isTTY === true || isValid) await terminal.success(sentence);
}

async function printError(
  result: Extract<ItemResult, { readonly ok: false }>,
  id: bigint | undefined,
  details: readonly string[],
  run: CreateRun,
): Promise<void> {
  const { io, terminal } = run;
  const { toErrorSentence } = await import("../../command-failure.ts");
  const { error } = result.error;
  const report = () => terminal.error(toErrorSentence(result.error, details), error);
  await printResult(result, id, run, report);
  // The user has read the JSON already.
  if (io.stdout.isTTY && io.stderr.isTTY && error !== undefined && findErrorRow(error)) {
    const advice = `"plantstore explain ${error}" shows how to fix it`;
    await terminal.error([...details, advice].join("; "), error);
  } else {
    await report();
  }
}
