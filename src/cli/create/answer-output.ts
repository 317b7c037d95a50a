/** Prints what came of a create: its JSON for programs on stdout, a sentence for the person on stderr. */
import type { CreateAnswer } from "../../client/answer.ts";
import { type ErrorBody, toPlantJson } from "../../core/plant.ts";
import { type Io, OutputError } from "../io.ts";
import { printJson } from "../output/json-output.ts";
import type { Reporter } from "../output/reporter.ts";

/** UTF-16 code units of a message on stderr; stdout has all of it. */
const maxSentence = 1000;

/** What a person may want to know beside the plant. */
const remarks = {
  unchanged: "unchanged: this plant was there already",
  replaced: "replaced: another plant had this id before",
} as const;

/**
 * Prints a Plant as one line of JSON.
 *
 * @throws OutputError
 */
export async function printPlant(
  { plant, result }: CreateAnswer & { readonly ok: true },
  io: Io,
  reporter: Reporter,
): Promise<void> {
  try {
    await printJson(io.stdout, [toPlantJson(plant)]);
  } catch (error) {
    if (isUnwritable(error)) await reporter.note("the plant is there, but can't be printed");
    throw error;
  }
  if (io.stderr.isTTY && result !== undefined && result !== "created") {
    await reporter.note(remarks[result]);
  }
}

/**
 * Prints an Error as one line of JSON and as a sentence.
 *
 * @param details what the sentence adds to the message
 * @throws OutputError
 */
export async function printError(
  { error, message }: ErrorBody,
  details: readonly string[],
  io: Io,
  reporter: Reporter,
): Promise<void> {
  try {
    await printJson(io.stdout, [JSON.stringify({ error, message })]);
  } catch (failure) {
    if (isUnwritable(failure)) await sayError({ error, message }, details, reporter);
    throw failure;
  }
  await sayError({ error, message }, details, reporter);
}

/** Not where nobody reads any more: whoever went away wants no more said. */
function isUnwritable(error: unknown): boolean {
  return error instanceof OutputError && !error.isClosed;
}

/** Says an Error as a sentence. */
export async function sayError(
  { error, message }: ErrorBody,
  details: readonly string[],
  reporter: Reporter,
): Promise<void> {
  const addition = details.length === 0 ? "" : ` (${details.join("; ")})`;
  // Ours are no longer; another server's may be.
  const sentence = message.length > maxSentence ? `${message.slice(0, maxSentence)}…` : message;
  await reporter.error(sentence + addition, error);
}
