/** A create from flags, or of the single plant of an input: sends it and prints the Plant or the Error. */
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
  type Rejection,
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
import type { NumberedRecord } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";

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
  unknown: (plant: string) => `${plant} is in the store`,
} as const;

/** The input of a single plant. */
interface SingleInput {
  readonly plant: NewPlant | Rejection;
  /** Added to the message of an invalid plant: the name of the input, unless the message has it. */
  readonly details?: readonly string[];
  /** Undefined if the input is empty. */
  readonly record?: NumberedRecord | undefined;
  /** Opened directly before the plant is sent or rejected. */
  readonly rejects?: RejectsFile | undefined;
}

/**
 * Creates the plant of an input, or of flags without one: messages name the flag.
 *
 * @returns the exit code, after the result is printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function sendOne(run: CreateRun, input?: SingleInput): Promise<number> {
  const { isDryRun, json, url } = run.options;
  const {
    plant,
    details = [],
    record,
    rejects,
  } = input ?? {
    plant: readPlantFlags(run.options.plant),
  };
  const isToSend = isSendable(plant) && isDryRun !== true;
  const prepared = isToSend ? await prepareRequest(run) : undefined;
  // Only now: without a token, the file of an earlier run does not change.
  await rejects?.open();
  const response =
    isToSend && prepared ? await sendAndWait(plant, prepared.request, run) : undefined;
  const result = response === undefined ? toLocalResult(plant) : toItemResult(response);
  const id = isSendable(plant) ? plant.id : record?.content.id;
  const answer = isError(response) ? undefined : response;
  if (result.ok) {
    await printPlant(result, id, answer === undefined ? "valid" : answer.result, run);
    return exitCodes.done.code;
  }
  if (record !== undefined) await rejects?.add([record]);
  if (response instanceof UnavailableError) {
    if (json) await printResult(result, id, run);
    throw response;
  }
  const { toDetails, toExitCode } = await import("../../command-failure.ts");
  const context = { url, source: run, tokenSource: prepared?.tokenSource };
  await printError(result, id, answer?.ok === false ? toDetails(answer, context) : details, run);
  const { error } = result.error;
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
  result: ItemResult,
  id: bigint | undefined,
  confirmation: keyof typeof confirmations = "unknown",
  run: CreateRun,
): Promise<void> {
  const { io, terminal, options } = run;
  if (options.isQuiet) return;
  const isValid = confirmation === "valid";
  await printResult(result, id, run, async () => {
    if (!isValid) await terminal.note("the plant is in the store, but cannot be printed");
  });
  const sentence = confirmations[confirmation](`plant ${id}`);
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
