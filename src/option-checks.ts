/** Checks the options that other programs give. In JavaScript they may be anything. */
import { findTokenProblem } from "./auth/token-text.ts";
import { quoteInput } from "./core/quote.ts";

/**
 * A text by its rule.
 *
 * @param parse returns undefined for a text that is against the rule
 * @param rule in words that follow "must be"
 * @throws TypeError
 */
export function checkText(
  name: string,
  value: unknown,
  parse: (text: string) => string | undefined,
  rule: string,
): string {
  const parsed = typeof value === "string" ? parse(value) : undefined;
  if (parsed === undefined) throw wrong(name, value, rule);
  return parsed;
}

/**
 * A whole number in a range, both ends included.
 *
 * @throws TypeError when it is no number; RangeError when it is another one
 */
export function checkNumber(
  name: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const rule = `a whole number from ${min} to ${max}`;
  if (typeof value !== "number") throw wrong(name, value, rule);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} is ${value}: it must be ${rule}`);
}

/**
 * A token, which no message holds.
 *
 * @throws TypeError
 */
export function checkToken(token: unknown): string {
  if (typeof token !== "string") throw new TypeError("token must be a string");
  const problem = findTokenProblem(token);
  if (problem !== undefined) throw new TypeError(`token ${problem}`);
  return token;
}

/** What to throw for a value that is against its rule. */
export function wrong(name: string, value: unknown, rule: string): TypeError {
  const shown = typeof value === "string" ? `"${quoteInput(value)}"` : `of type ${typeof value}`;
  return new TypeError(`${name} is ${shown}: it must be ${rule}`);
}
