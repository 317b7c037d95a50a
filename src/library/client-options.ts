/** The options of clients, and the checks of all options: names, types, ranges and defaults, for programs and the command line. */
import { findClosestWord, invalid, InvalidValue } from "../core/messages.ts";
import { integer, msPerUnit, type OptionSpec, timeLimit } from "./option-types.ts";

/** Options of a client for each plant. */
export interface AttemptOptions {
  /** Time for each attempt in milliseconds, from the look-up of the name to the last byte of the response: 1 … 86400000; by default 10000. */
  readonly timeoutMs?: number | undefined;
  /** Number of retries while the store is unavailable: 0 … 100; by default 2. Retries are safe: a create can be repeated. */
  readonly retries?: number | undefined;
}

export const attemptOptions = {
  timeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 10_000 },
  retries: { type: integer({ min: 0, max: 100 }), default: 2 },
} as const satisfies SpecsOf<AttemptOptions>;

/** Options for `createMany` of a client. */
export interface CreateManyOptions {
  /** Number of plants to send at once: 1 … 1024; by default 128. More needs more memory. */
  readonly concurrency?: number | undefined;
  /** Once aborted, no further plant is sent. */
  readonly signal?: AbortSignal | undefined;
}

export const createManyOptions = {
  concurrency: { type: integer({ min: 1, max: 1024 }), default: 128 },
} as const satisfies SpecsOf<Omit<CreateManyOptions, "signal">>;

/** A table of options. */
export type Specs = Readonly<Record<string, OptionSpec<unknown>>>;

/**
 * A table of the options of an interface: each has a row, and no row has another type. The interface is what programs see:
 * types that derive from the table would show them how it parses and checks.
 */
export type SpecsOf<Options> = {
  readonly [Name in keyof Options]-?: OptionSpec<Options[Name]>;
};

export type OptionValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends {
    type: { check(value: unknown): infer Value };
  }
    ? Value
    : never;
};

/** Checks one option that a program passes. @throws TypeError, or RangeError for a number outside its range */
export function checkOption<T>(name: string, check: (value: unknown) => T, value: unknown): T {
  try {
    return check(value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const ErrorType = error.isOutOfRange ? RangeError : TypeError;
    throw new ErrorType(`${name} ${error.message}`, { cause: error });
  }
}

/**
 * Checks the options of a table that a program passes; an option that is undefined has its default.
 *
 * @param prefix of the names in messages
 * @throws as {@link checkOption}
 */
export function checkOptions<Table extends Specs>(
  table: Table,
  options: { readonly [Name in keyof Table]?: OptionValues<Table>[Name] | undefined },
  prefix = "",
): OptionValues<Table> {
  const entries = Object.entries(table).map(([name, spec]) => {
    const { [name]: value = spec.default } = options;
    return [name, checkOption(prefix + name, (each) => spec.type.check(each), value)];
  });
  return Object.fromEntries(entries) as OptionValues<Table>;
}

/** Checks for an object that is no array. @throws InvalidValue */
export function checkObject(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid(value, "an object");
}

/**
 * Rejects options that do not exist, and suggests the closest name.
 *
 * @param ignored further names that an object may have
 * @param prefix of the names in messages
 * @throws TypeError
 */
export function assertKnownOptions(
  options: object,
  names: readonly string[],
  ignored: readonly string[] = [],
  prefix = "",
): void {
  for (const name of Object.keys(checkOption("options", checkObject, options))) {
    if (names.includes(name) || ignored.includes(name)) continue;
    const closest = findClosestWord(name, names);
    const advice = closest ? `did you mean ${closest}?` : `known: ${names.join(", ")}`;
    throw new TypeError(`unknown option ${JSON.stringify(prefix + name)}: ${advice}`);
  }
}
