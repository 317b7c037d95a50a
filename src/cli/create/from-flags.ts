/** Creates the plant that flags describe. */
import { createPlant } from "../../client/create-plant.ts";
import { RequestError } from "../../core/errors.ts";
import { type NewPlant, toNewPlantJson } from "../../core/plant.ts";
import { Interruption } from "../command-error.ts";
import { showWhile } from "../output/progress.ts";
import { type LoneResult, printLone } from "./lone-answer.ts";
import { type PlantFlags, toNewPlant } from "./plant-source.ts";
import { findTokenToSend } from "./request-token.ts";
import { sayRetry } from "./retry-note.ts";
import type { CreateRun } from "./run.ts";

/**
 * Creates it.
 *
 * @returns the exit code, once what came of it is printed
 * @throws CommandError, Interruption, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function createFromFlags(flags: PlantFlags, run: CreateRun): Promise<number> {
  const { options, io, cutOff } = run;
  let isSent = false;
  const releaseSignals = io.onSignal((name) => cutOff.abort(new Interruption(name, isSent)));
  try {
    const plant = toPlantOrRefusal(flags);
    if (plant instanceof RequestError) return await print(plant, "", run);
    const { token, source } = await findTokenToSend(run);
    isSent = true;
    const send = () => sendPlant(plant, token, run);
    const toText = () => `waiting for ${options.baseUrl}`;
    const isShown = !options.many.isQuiet;
    const outcome = await (isShown ? showWhile(toText, send, io, run.colorChoice) : send());
    return await print(outcome, source, run);
  } finally {
    releaseSignals();
  }
}

function toPlantOrRefusal(flags: PlantFlags): NewPlant | RequestError {
  try {
    return toNewPlant(flags);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

function sendPlant(plant: NewPlant, token: string, run: CreateRun) {
  const { baseUrl, timeoutMs, retries } = run.options;
  const mayRetry = (attempts: number): boolean => attempts <= retries;
  const request = { baseUrl, token, timeoutMs, mayRetry, signal: run.cutOff.signal };
  return createPlant(toNewPlantJson(plant), request, (retry) => sayRetry(retry, retries, run));
}

function print(result: LoneResult, tokenSource: string, run: CreateRun): Promise<number> {
  const { options, io, reporter } = run;
  const { baseUrl, many } = options;
  const context = { place: undefined, tokenSource, baseUrl, isQuiet: many.isQuiet };
  return printLone(result, context, io, reporter);
}
