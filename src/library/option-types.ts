/** Types of options: how each parses, checks and formats its values. */
import { findTokenProblem } from "../auth/token.ts";
import { parseBaseUrl, parseHttpUrl } from "../core/base-url.ts";
import { invalid, InvalidValue } from "../core/messages.ts";

/** Milliseconds of each unit of time. */
export const msPerUnit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export interface OptionType<T> {
  /** Parses the text of a flag or an environment variable. @throws InvalidValue */
  parse(text: string): T;
  /** Checks the value that a program passes; absent for an option of the command line alone. @throws InvalidValue */
  check?(value: unknown): T;
  /** Formats a value for help and reports, without secrets. */
  format(value: T): string;
  /** All values, if they are few. */
  readonly choices?: readonly string[];
}

/** An option that programs set too: its type and its default. */
export interface OptionSpec<T> {
  readonly type: OptionType<T> & { check(value: unknown): T };
  readonly default: T;
}

/** A range of integers, both ends included. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checks that a value is an integer in a range. @throws InvalidValue */
export function checkInteger(value: unknown, { min, max }: Range): number {
  const rule = `a whole number from ${min} to ${max}`;
  if (typeof value !== "number") throw invalid(value, rule);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidValue(`must be ${rule} (got ${value})`, { isOutOfRange: true });
}

/**
 * An integer in a range that is written in a way of its own.
 *
 * @param toNumber returns the number of a text; NaN for any other text
 * @param rule follows "must be", for an invalid text
 */
export function ranged(
  range: Range,
  toNumber: (text: string) => number,
  rule: string,
  format: (value: number) => string,
) {
  return {
    parse(text: string) {
      const value = toNumber(text);
      if (value >= range.min && value <= range.max) return value;
      throw invalid(text, rule);
    },
    check: (value: unknown) => checkInteger(value, range),
    format,
  } satisfies OptionType<number>;
}

export function integer(range: Range) {
  const rule = `a whole number from ${range.min} to ${range.max}`;
  return ranged(
    range,
    (digits) => (/^\d{1,9}$/.test(digits) ? Number(digits) : Number.NaN),
    rule,
    String,
  );
}

/** One of several words. */
export function choice<Choice extends string>(choices: readonly Choice[]) {
  const check = (value: unknown): Choice => {
    const found = choices.find((each) => each === value);
    if (found === undefined) throw invalid(value, `one of ${choices.join(", ")}`);
    return found;
  };
  return { parse: (text: string): Choice => check(text), check, format: String, choices };
}

/**
 * A string by its rule.
 *
 * @param parse returns the normalized string. @throws InvalidValue
 * @param format by default the string itself, or `none` for an empty one
 */
export function string(
  parse: (text: string) => string,
  format = (text: string): string => text || "none",
) {
  return {
    parse,
    check(value: unknown) {
      if (typeof value === "string") return parse(value);
      throw invalid(value, "a string");
    },
    format,
  } satisfies OptionType<string>;
}

/** The URL of a plant store, without a slash at the end. */
export const baseUrl = string(parseBaseUrl);

/** The URL of a plant store, but not of a Unix socket. */
export const httpUrl = string(parseHttpUrl);

/** A bearer token, which no message contains. */
export const token = {
  parse: parseToken,
  check(value: unknown) {
    if (typeof value === "string") return parseToken(value);
    throw new InvalidValue("must be a string");
  },
  format: () => "a token",
} satisfies OptionType<string>;

function parseToken(text: string): string {
  const problem = findTokenProblem(text);
  if (problem === undefined) return text;
  throw new InvalidValue(problem);
}

/**
 * A time in milliseconds; as text, such as `500ms`, `10s`, `2m`, `12h` or `30d`.
 *
 * @param examples for messages
 * @param defaultUnit unit of a number without one; by default such a number is invalid, except 0
 */
export function duration(range: Range, examples: string, defaultUnit?: keyof typeof msPerUnit) {
  const ends = `from ${formatDuration(range.min)} to ${formatDuration(range.max)}`;
  const rule = `a time such as ${examples}, ${ends}`;
  return ranged(range, (text) => parseDuration(text, defaultUnit), rule, formatDuration);
}

/** A time limit in milliseconds; as text, such as `500ms`, `10s` or `2m`, or a number of seconds. */
export function timeLimit(range: Range) {
  return duration(range, "500ms, 10s or 2m", "s");
}

/** @returns milliseconds; NaN for an invalid text */
export function parseDuration(text: string, defaultUnit?: keyof typeof msPerUnit): number {
  const [, count = "", suffix] = /^(\d{1,9}(?:\.\d{1,9})?)([a-z]*)$/.exec(text) ?? [];
  if (text === "0") return 0;
  const units = Object.entries(msPerUnit);
  const unit = units.find(([name]) => name === (suffix || defaultUnit));
  return count === "" || unit === undefined ? Number.NaN : Math.round(Number(count) * unit[1]);
}

export function formatDuration(timeMs: number): string {
  return formatQuantity(timeMs, msPerUnit);
}

/** Formats a number with the largest unit that divides it. */
export function formatQuantity(value: number, units: Readonly<Record<string, number>>): string {
  const unit = Object.entries(units).findLast(([, size]) => value > 0 && value % size === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** Separates the values of a flag that is repeated. No argument and no environment variable contains it. */
export const valueSeparator = "\0";

/** A type whose values are shown as they are. @param parse throws InvalidValue */
export function shown<T>(parse: (text: string) => T): OptionType<T> {
  return { parse, format: String };
}

/** Any text, unchanged. */
export const text = shown(String);

/** A value, or none for empty text. */
export function optional<T>(type: OptionType<T>): OptionType<T | undefined> {
  return {
    ...type,
    parse: (value) => (value === "" ? undefined : type.parse(value)),
    format: (value) => (value === undefined ? "none" : type.format(value)),
  };
}

/** A switch: 1 or 0. The flag alone is 1. */
export const toggle: OptionType<boolean> = {
  parse(value) {
    if (value === "0" || value === "1") return value === "1";
    throw invalid(value, "1 or 0");
  },
  format: (isOn) => (isOn ? "1" : "0"),
};

/** A line of a file: 1 … 999,999,999,999,999. */
export const line = shown((value) => {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
  if (number >= 1) return number;
  throw invalid(value, "a line number, at least 1");
});

/** The character between the cells of a table; `tab` is a tab. */
export const delimiter: OptionType<string> = {
  parse(value) {
    if (value === "tab") return "\t";
    if (/^[\t !#-~]$/.test(value)) return value;
    throw invalid(value, "tab, or one ASCII character other than a quote");
  },
  format: String,
  choices: ["tab"],
};

/** A file to write. */
export const outputFile = shown((value) => {
  if (value !== "" && value !== "-") return value;
  throw invalid(value, "a file, because stdout has the results");
});
