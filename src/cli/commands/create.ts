/** `plantstore create`: reads a plant, checks it, sends it, and prints the answer. */
import { type CreateOutcome, createPlant, type Retry } from "../../client/create-plant.ts";
import { Refusal } from "../../core/errors.ts";
import type { NewPlant } from "../../core/plant.ts";
import { quoteInput } from "../../core/quote.ts";
import { printError, printPlant } from "../answer-output.ts";
import { Interruption } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { toExitCode } from "../failure.ts";
import type { Io } from "../io.ts";
import { isLoopback } from "../loopback.ts";
import { describeSource, type PlantSource, readNewPlant, toPlantSource } from "../plant-source.ts";
import { showWhile } from "../progress.ts";
import { createReporter, type Reporter } from "../reporter.ts";
import { type ClientOptions, type CreateFlags, resolveClientOptions } from "../settings.ts";
import { findToken, type FoundToken } from "../token-source.ts";

/** What `create` is to do. */
export interface CreateOptions extends ClientOptions {
  readonly source: PlantSource;
  /** `-` is the standard input. */
  readonly tokenFile?: string | undefined;
}

/** What the steps of one run share. */
interface Run {
  readonly options: CreateOptions;
  readonly io: Io;
  readonly colorChoice: boolean | undefined;
  readonly reporter: Reporter;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

/**
 * What the flags and the operand of a command line ask for.
 *
 * @throws CommandError when that is nothing that can be done
 */
export function toCreateOptions(
  flags: CreateFlags,
  file: string | undefined,
  io: Io,
): CreateOptions {
  const { tokenFile } = flags;
  const source = toPlantSource(flags, file, tokenFile === "-", io);
  return { ...resolveClientOptions(flags, io), source, tokenFile };
}

/**
 * Creates the plant.
 *
 * @param colorChoice `--color` or `--no-color`, when one was given
 * @returns the exit code, once the answer is printed
 * @throws CommandError, Interruption, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function create(
  options: CreateOptions,
  io: Io,
  colorChoice: boolean | undefined,
): Promise<number> {
  const interruption = new AbortController();
  let isSending = false;
  const releaseSignals = io.onSignal((name) => {
    interruption.abort(new Interruption(name, isSending));
  });
  const reporter = createReporter(io, colorChoice);
  const run: Run = { options, io, colorChoice, reporter, signal: interruption.signal };
  try {
    const { plant, found } = await readInput(run);
    await warnOfEavesdroppers(run);
    isSending = true;
    return await print(await send(plant, found, run), found, run);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const place = describeSource(options.source);
    await printError(error, place === undefined ? [] : [`in ${place}`], io, reporter);
    return exitCodes.invalidPlant.code;
  } finally {
    releaseSignals();
  }
}

/** Nobody waits for input without knowing of it. */
async function readInput(run: Run): Promise<{ plant: NewPlant; found: FoundToken }> {
  const { options, io, colorChoice, reporter, signal } = run;
  const { source, tokenFile, baseUrl } = options;
  const read = async () => ({
    plant: await readNewPlant(source, io, signal),
    found: await findToken(tokenFile, baseUrl, io, signal),
  });
  const readsStdin = source.from === "stdin" || tokenFile === "-";
  if (readsStdin && io.stdin.isTTY) {
    const wanted = source.from === "stdin" ? "a plant as JSON" : "the token";
    await reporter.note(`reading ${wanted} from the terminal: end it with Ctrl-D`);
    return read();
  }
  return showWhile("waiting for input", read, io, colorChoice);
}

async function warnOfEavesdroppers({ options: { baseUrl }, reporter }: Run): Promise<void> {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  await reporter.warning(`the token goes to ${baseUrl} unencrypted: use https where others listen`);
}

function send(plant: NewPlant, { token }: FoundToken, run: Run): Promise<CreateOutcome> {
  const { options, io, colorChoice, reporter, signal } = run;
  const { baseUrl, timeoutMs, retries } = options;
  const onRetry = (retry: Retry): void => {
    if (io.stderr.isTTY) void reporter.note(describeRetry(retry, options));
  };
  return showWhile(
    `waiting for ${baseUrl}`,
    () => createPlant(plant, { baseUrl, token, timeoutMs, retries, signal, onRetry }),
    io,
    colorChoice,
  );
}

function describeRetry({ attempt, delayMs, failure }: Retry, options: CreateOptions): string {
  const reason = "error" in failure ? `error ${failure.error.error}` : failure.message;
  const next = `attempt ${attempt + 1} of ${options.retries + 1} in ${(delayMs / 1000).toFixed(1)} s`;
  return `${options.baseUrl} is unavailable (${quoteInput(reason, 100)}): ${next}`;
}

async function print(
  outcome: CreateOutcome,
  { source }: FoundToken,
  { options, io, reporter }: Run,
): Promise<number> {
  if (outcome.ok) {
    await printPlant(outcome, io, reporter);
    return exitCodes.done.code;
  }
  const { error, attempts } = outcome;
  const exitCode = toExitCode(error.error);
  const details = [];
  if (exitCode === exitCodes.tokenRefused.code) details.push(`the token came from ${source}`);
  if (exitCode === exitCodes.notAPlantStore.code) {
    details.push(`check the path of --url, which is ${options.baseUrl}`);
  }
  if (attempts > 1) details.push(`after ${attempts} attempts`);
  await printError(error, details, io, reporter);
  return exitCode;
}
