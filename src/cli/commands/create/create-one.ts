/** A create from flags, or of the single plant of an input: sends it and prints the Plant or the Error. */
import { type Retry, sendPlant } from "../../../client/create-plant.ts";
import {
  categorizeError,
  type FinalResponse,
  isTooLargeForProxy,
  type ItemResult,
  type Rejection,
  UnavailableError,
} from "../../../client/results.ts";
import { findErrorRow, type RequestError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import { unpairedSurrogate } from "../../../core/messages.ts";
import { type NewPlant, toNewPlantJson, toPlantJson } from "../../../core/plant.ts";
import { toMemberValue, validateNewPlant } from "../../../core/read-plant.ts";
import { exitCodes } from "../../command-error.ts";
import { OutputError } from "../../io.ts";
import { selectPost } from "../../server-access.ts";
import { type CreateRun, findTokenToSend, type PlantFlags, toRequest } from "./create-run.ts";
import type { NumberedRecord } from "./record-input.ts";
import type { RejectsFile } from "./rejects-file.ts";

/**
 * Creates the plant of flags.
 *
 * @returns the exit code, once the result is printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export function sendFromFlags(flags: PlantFlags, run: CreateRun): Promise<number> {
  return sendOne(toNewPlant(flags), run);
}

/** Reads a plant from flags. @returns the plant, or a RequestError that names every broken rule */
function toNewPlant(flags: PlantFlags): NewPlant | RequestError {
  const members = new Map<string, JsonValue>();
  for (const [member, text] of Object.entries(flags)) {
    if (text !== undefined) members.set(member, toMemberValue(member, text));
  }

  const problems = [...members]
    .filter(([, value]) => typeof value === "string" && !value.isWellFormed())
    .map(([member]) => ({
      kind: "loneSurrogate" as const,
      message: `--${member} ${unpairedSurrogate}`,
    }));
  return validateNewPlant(members, problems, (member) => `--${member}`);
}

/** Confirmations for a user, by the result. */
const confirmations = {
  created: (plant: string) => `created ${plant}`,
  unchanged: (plant: string) => `unchanged: ${plant} was already in the store`,
  replaced: (plant: string) => `replaced ${plant}: another plant had this id`,
  valid: (plant: string) => `${plant} is valid; nothing was sent`,
  unknown: (plant: string) => `${plant} is in the store`,
} as const;

/** The input of a single plant. */
interface SingleInput {
  /** Added to the message of an invalid plant: the name of the input, unless the message has it. */
  readonly details: readonly string[];
  /** Undefined if the input is empty. */
  readonly record: NumberedRecord | undefined;
  /** Opened directly before the plant is sent or rejected. */
  readonly rejects: RejectsFile | undefined;
}

/**
 * Creates a plant.
 *
 * @param input undefined for flags, which messages name themselves
 * @returns the exit code, after the result is printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function sendOne(
  plant: NewPlant | Rejection,
  run: CreateRun,
  input?: SingleInput,
): Promise<number> {
  const { options } = run;
  const rejects = input?.rejects;
  const reject = async (): Promise<void> => {
    if (input?.record) await rejects?.add([input.record]);
  };
  if ("message" in plant) {
    await rejects?.open();
    await reject();
    const result = { status: "rejected", error: plant } as const;
    await printError(result, input?.record?.content.id, input?.details ?? [], run);
    return exitCodes.invalidPlant.code;
  }
  if (options.isDryRun) {
    await rejects?.open();
    return printPlant({ status: "valid", plant }, plant.id, "valid", run);
  }
  const { token, source } = await findTokenToSend(run);
  // Only now: without a token, the file of an earlier run does not change.
  await rejects?.open();
  run.inDoubt = "one";
  const response = await send(plant, token, run).catch(async (error: unknown) => {
    if (error instanceof UnavailableError) {
      await reject();
      if (options.json) await printResult(error, plant.id, run);
    }
    if (!isTooLargeForProxy(error)) throw error;
    return { status: "rejected", error: { message: error.message } } as const;
  });
  if ("status" in response) {
    await reject();
    await printError(response, plant.id, [], run);
    return exitCodes.invalidPlant.code;
  }
  if (response.ok) return printPlant(response, plant.id, response.result, run);
  await reject();
  const { toDetails } = await import("./failure-messages.ts");
  await printError(response, plant.id, toDetails(response, source, options.url), run);
  return exitCodes[categorizeError(response.error.error)].code;
}

async function send(plant: NewPlant, token: string, run: CreateRun): Promise<FinalResponse> {
  const { options, io, terminal, abort } = run;
  const { url, timeoutMs, retries, isQuiet, isVerbose } = options;
  const printRetry = async (retry: Retry): Promise<void> => {
    const { describeUnavailable } = await import("./failure-messages.ts");
    const { attempt, delayMs } = retry;
    const next = `attempt ${attempt + 1} of ${retries + 1} in ${(delayMs / 1000).toFixed(1)} s`;
    await terminal.note(`${describeUnavailable(retry, url)}: ${next}`);
  };
  const onRetry = (retry: Retry): void => {
    if (io.stderr.isTTY) void printRetry(retry);
  };
  const request = toRequest(token, run);
  const post = await selectPost(options, terminal);
  const work = () =>
    sendPlant(toNewPlantJson(plant), { request, timeoutMs, retries, post, signal: abort }, onRetry);
  return isQuiet || isVerbose ? work() : terminal.showWhile(() => `waiting for ${url}`, work);
}

/** Prints a line on stdout: with `--json` as a bulk create, otherwise the Plant or the Error. @throws OutputError */
async function printResult(
  result: ItemResult | FinalResponse | UnavailableError,
  id: bigint | undefined,
  { options, terminal }: CreateRun,
): Promise<void> {
  if (options.json) {
    const { toResultLine } = await import("./result-report.ts");
    await terminal.printLines([toResultLine(id, result)]);
  } else if ("plant" in result && result.plant !== undefined) {
    await terminal.printLines([toPlantJson(result.plant)]);
  } else if ("error" in result && result.error.error !== undefined) {
    // A record that only --strict rejects breaks no rule of the service, so there is no Error.
    const { error, message } = result.error;
    await terminal.printLines([JSON.stringify({ error, message })]);
  }
}

async function printPlant(
  result: Parameters<typeof printResult>[0],
  id: bigint,
  confirmation: keyof typeof confirmations = "unknown",
  run: CreateRun,
): Promise<number> {
  const { io, terminal, options } = run;
  const { isQuiet } = options;
  try {
    if (!isQuiet) await printResult(result, id, run);
  } catch (error) {
    if (isUnwritable(error) && confirmation !== "valid") {
      await terminal.note("the plant is in the store, but cannot be printed");
    }
    throw error;
  }
  const sentence = confirmations[confirmation](`plant ${id}`);
  const isShown = io.stderr.isTTY === true || confirmation === "valid";
  if (!isQuiet && isShown) await terminal.success(sentence);
  return exitCodes.done.code;
}

async function printError(
  result: { readonly error: Rejection } & (ItemResult | FinalResponse),
  id: bigint | undefined,
  details: readonly string[],
  run: CreateRun,
): Promise<void> {
  const { io, terminal } = run;
  const { reportError } = await import("./failure-messages.ts");
  const { error: problem } = result;
  const { error } = problem;
  try {
    await printResult(result, id, run);
  } catch (failure) {
    if (isUnwritable(failure)) await reportError(problem, details, terminal);
    throw failure;
  }
  const isKnown = error !== undefined && findErrorRow(error) !== undefined;
  // The user has read the JSON already.
  if (io.stdout.isTTY && io.stderr.isTTY && isKnown) {
    const advice = `"plantstore explain ${error}" shows how to fix it`;
    await terminal.error([...details, advice].join("; "), error);
  } else {
    await reportError(problem, details, terminal);
  }
}

/** Not for a closed output, whose reader wants no further messages. */
function isUnwritable(error: unknown): boolean {
  return error instanceof OutputError && !error.isClosed;
}
