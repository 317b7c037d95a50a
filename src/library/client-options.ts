/** The options of clients, of faults and of limits, and the checks of all options: names, types, ranges and defaults, for programs and the command line. */
import { invalid, InvalidValue, findClosestWord, quoteInput } from "../core/messages.ts";
import {
  integer,
  latency,
  msPerUnit,
  type OptionSpec,
  plannedFaults,
  share,
  type OptionType,
  timeLimit,
} from "./option-types.ts";

/** Largest seed of a sequence of faults. */
export const maxFaultSeed = 999_999_999;

/** Faults of creates, for tests of clients. A 200 still means that the plant is stored. */
export const faultOptions = {
  /** Delay of each response, in milliseconds, or a pair of the shortest and the longest: 0 … 3600000; by default 0. */
  latencyMs: { type: latency({ min: 0, max: msPerUnit.h }), default: 0 },
  /** Share of creates that get 50301 before the store is used: 0 … 1; by default 0. */
  failRate: { type: share, default: 0 },
  /** Share of created plants whose connection is closed instead of a response: 0 … 1; by default 0. */
  dropRate: { type: share, default: 0 },
  /** Share of creates that get a page of HTML before the store is used, as from a proxy: 0 … 1; by default 0. */
  statusRate: { type: share, default: 0 },
  /** Share of creates that get 40102 before the store is used, although the token is valid: 0 … 1; by default 0. */
  tokenRate: { type: share, default: 0 },
  /** Share of created plants whose response ends in the middle: 0 … 1; by default 0. */
  cutRate: { type: share, default: 0 },
  /** Share of created plants without a response until the client closes its connection: 0 … 1; by default 0. */
  silentRate: { type: share, default: 0 },
  /** Status of the pages of HTML: 400 … 599; by default 502. */
  pageStatus: { type: integer({ min: 400, max: 599 }), default: 502 },
  /** Selects the sequence of faults: 0 … 999999999; by default 0. */
  seed: { type: integer({ min: 0, max: maxFaultSeed }), default: 0 },
  /** Faults of the first valid creates, one for each, such as `["fail", "pass", "drop"]`; the shares concern only those after them. */
  first: { type: plannedFaults, default: [] },
} as const satisfies Specs;

/** The parts of a list of faults, each with the name of its option in the library. */
const faultParts = [
  ["latency", "latencyMs"],
  ["fail", "failRate"],
  ["drop", "dropRate"],
  ["status", "statusRate"],
  ["token", "tokenRate"],
  ["cut", "cutRate"],
  ["silent", "silentRate"],
  ["page", "pageStatus"],
  ["seed", "seed"],
  ["first", "first"],
] as const satisfies readonly (readonly [part: string, name: keyof typeof faultOptions])[];
const faultTypes: Readonly<
  Record<keyof typeof faultOptions, { readonly type: OptionType<unknown> }>
> = faultOptions;

/** Faults of creates, such as `latency=200ms..2s fail=5% drop=1% seed=7`: any of the parts, each at most once. */
export const faultList: OptionType<Partial<OptionValues<typeof faultOptions>>> = {
  parse(list) {
    const values = new Map<string, unknown>();
    for (const item of list.split(/\s+/).filter(Boolean)) {
      const [word = ""] = item.split("=");
      const [part, name] = faultParts.find(([each]) => each === word) ?? [];
      if (name === undefined) {
        const known = faultParts.map(([each]) => each).join(", ");
        throw new InvalidValue(`has an unknown part "${quoteInput(word)}": known are ${known}`);
      }
      if (values.has(name)) throw new InvalidValue(`has two parts ${part}: remove one of them`);
      values.set(name, parsePart(part, item.slice(part.length + 1), faultTypes[name].type));
    }
    return Object.fromEntries(values);
  },
  format(values) {
    const isShown = (name: keyof typeof faultOptions): boolean =>
      values[name] !== undefined &&
      (name === "seed" || String(values[name]) !== String(faultOptions[name].default));
    const shown = faultParts.filter(([, name]) => isShown(name));
    const parts = shown.map(
      ([part, name]) => `${part}=${faultTypes[name].type.format(values[name])}`,
    );
    return parts.join(" ") || "none";
  },
};

function parsePart<T>(part: string, value: string, type: OptionType<T>): T {
  try {
    return type.parse(value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new InvalidValue(`has an invalid part: ${part} ${error.message}`, { cause: error });
  }
}

/** Limits of a server that only the command line can change. */
export const limitOptions = {
  /** Maximum number of connections. */
  maxConnections: { type: integer({ min: 1, max: 1_000_000 }), default: 10_000 },
  /** Time for a complete request to arrive; its headers must arrive in a third of it. */
  requestTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 60_000 },
  /** Time after which an idle connection is closed. */
  idleTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 75_000 },
  /** Time for which a server that stops still accepts requests, but is not ready. */
  drainMs: { type: timeLimit({ min: 0, max: msPerUnit.d }), default: 0 },
  /** Time for requests in flight when the server stops. */
  shutdownTimeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 10_000 },
} as const satisfies Specs;

/** Options of a client for each plant. */
export const attemptOptions = {
  /** Time for each attempt in milliseconds, from the look-up of the name to the last byte of the response: 1 … 86400000; by default 10000. */
  timeoutMs: { type: timeLimit({ min: 1, max: msPerUnit.d }), default: 10_000 },
  /** Number of retries while the store is unavailable: 0 … 100; by default 2. Retries are safe: a create can be repeated. */
  retries: { type: integer({ min: 0, max: 100 }), default: 2 },
} as const satisfies Specs;

/** Options of `createMany` of a client. */
export const createManyOptions = {
  /** Number of plants to send at once: 1 … 1024; by default 128. More needs more memory. */
  concurrency: { type: integer({ min: 1, max: 1024 }), default: 128 },
} as const satisfies Specs;

/** A table of options. */
export type Specs = Readonly<Record<string, OptionSpec<unknown>>>;

/** The values of a table of options. */
export type OptionValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends {
    type: { check(value: unknown): infer Value };
  }
    ? Value
    : never;
};

/** Some of the values of a table of options; an undefined one has its default. */
export type PartialValues<Table> = {
  readonly [Name in keyof Table]?: OptionValues<Table>[Name] | undefined;
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
  options: { readonly [Name in keyof Table]?: unknown },
  prefix = "",
): OptionValues<Table> {
  const entries = Object.entries(table).map(([name, spec]) => {
    const value = options[name] === undefined ? spec.default : options[name];
    return [name, checkOption(prefix + name, (each) => spec.type.check(each), value)];
  });
  return Object.fromEntries(entries) as OptionValues<Table>;
}

/** Faults of creates, for tests of clients. */
// oxlint-disable-next-line typescript/no-empty-object-type -- an interface keeps its name in the types of programs
export interface FaultOptions extends PartialValues<typeof faultOptions> {}

/** Checks the option `faults` of a program. @throws as {@link checkOption} and {@link assertKnownOptions} */
export function checkFaults(faults: unknown): OptionValues<typeof faultOptions> {
  const options = checkOption("faults", checkObject, faults);
  assertKnownOptions(options, Object.keys(faultOptions), [], "faults.");
  return checkOptions(faultOptions, options, "faults.");
}

function checkObject(value: unknown): object {
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
