/** Reads the values of settings; what is wrong with one is said in words that follow the name of its source. */
import { InvalidUrl, parseBaseUrl as parseUrlOfStore } from "../../core/base-url.ts";
import { patienceRanges } from "../../core/patience.ts";
import { quoteInput } from "../../core/quote.ts";

/** A value that breaks its rule. The message continues a sentence that starts with the flag or the variable. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
}

/** How often something is done again: 0 … 100. */
export function parseCount(text: string): number {
  return parseInteger(text, patienceRanges.retries);
}

/** How many plants are sent at a time: 1 … 1024. */
export function parseConcurrency(text: string): number {
  return parseInteger(text, { min: 1, max: 1024 });
}

/** How many of something are begun in a second: 0.001 … 1,000,000, or `none` for no bound, which is Infinity. */
export function parseRate(text: string): number {
  if (text === "none") return Number.POSITIVE_INFINITY;
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate < 0.001 || rate > 1_000_000) {
    throw invalid(text, "a number such as 100 or 0.5, at most 1000000, or none");
  }
  return rate;
}

/** A line of a file: 1 … 999,999,999,999,999. */
export function parseLine(text: string): number {
  const line = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (line < 1) throw invalid(text, "a line, counted from 1");
  return line;
}

/** Anything, or for none the empty string. */
export function parseOptional(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** One of some words. */
export function parseChoice<Choice extends string>(
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw invalid(text, `one of ${choices.join(", ")}`);
  return found;
}

/** Seconds as milliseconds: 1 ms … 1 day. */
export function parseSeconds(text: string): number {
  const timeMs = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Math.round(Number(text) * 1000) : 0;
  if (timeMs < 1 || timeMs > patienceRanges.timeoutMs.max) {
    throw invalid(text, "a number of seconds such as 10 or 0.5, and at most 86400");
  }
  return timeMs;
}

/** The URL that a plant store is at, without a slash at its end. */
export function parseBaseUrl(text: string): string {
  return explainUrl(() => parseUrlOfStore(text));
}

/** What is wrong with a URL is wrong with the value. */
export function explainUrl<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidUrl)) throw error;
    throw new InvalidValue(error.message, { cause: error });
  }
}

/** An integer of at most nine digits, in a range. */
export function parseInteger(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw invalid(text, `a whole number from ${min} to ${max}`);
  return value;
}

/** A value that breaks a rule, in words that follow "must be". */
export function invalid(text: string, rule: string): InvalidValue {
  return new InvalidValue(`is "${quoteInput(text)}": it must be ${rule}`);
}
