/** Finds the values of options: flag, then environment variable, then saved setting, then default. */
import { InvalidValue } from "../library/option-types.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { findConfigDirectoryIfAny } from "./config/directories.ts";
import { readSavedSettings, toSettingsFile } from "./config/saved-settings.ts";
import type { Io } from "./io.ts";
import type { TextType } from "./option-types.ts";
import { type Option, type Options, toLongFlag } from "./options.ts";

/** The flags of a command line, by the names of their options. A flag without a value is `1`. */
export type Flags = Readonly<Record<string, string | undefined>>;

/** The values of a table of options. */
export type Values<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends { type: { parse(text: string): infer T } }
    ? Table[Name] extends { readonly default: unknown }
      ? T
      : T | undefined
    : never;
};

/** A value and its source: the flag, the environment variable, the file, or `the default`. */
export interface Setting<T> {
  /** undefined for an option without a default. */
  readonly value: T | undefined;
  readonly source: string;
}

/**
 * Reads the values of all options of a table.
 *
 * @throws CommandError for an invalid value, with its source
 */
export function readOptions<Table extends Options>(
  table: Table,
  flags: Flags,
  io: Io,
): Values<Table> {
  const entries = Object.entries(table).map(([name, option]) => [
    name,
    readOption(option, flags[name], io).value,
  ]);
  return Object.fromEntries(entries) as Values<Table>;
}

/**
 * Reads the value of one option.
 *
 * @throws CommandError for an invalid value, with its source, and for saved settings that cannot be read
 */
export function readOption<T>(option: Option<T>, flag: string | undefined, io: Io): Setting<T> {
  const { flags, env = "", saved, type } = option;
  if (flag !== undefined) {
    const source = toLongFlag(flags);
    return { value: parseArgument(source, flag, type), source };
  }
  // An empty variable counts as unset; an empty flag does not.
  const variable = io.env[env];
  if (variable) return { value: parseText(env, variable, type), source: env };
  const directory = saved === undefined ? undefined : findConfigDirectoryIfAny(io);
  if (saved !== undefined && directory !== undefined) {
    const text = readSavedSettings(directory)[saved];
    const source = `the ${saved} in ${toSettingsFile(directory)}`;
    if (text !== undefined) return { value: parseText(source, text, type), source };
  }
  const value =
    typeof option.default === "function" ? (option.default as (io: Io) => T)(io) : option.default;
  return { value, source: "the default" };
}

/** Parses a part of the command line. @throws UsageError */
export function parseArgument<T>(source: string, text: string, type: TextType<T>): T {
  return parse(type, text, (problem, cause) => new UsageError(`${source} ${problem}`, { cause }));
}

function parseText<T>(source: string, text: string, type: TextType<T>): T {
  return parse(
    type,
    text,
    (problem, cause) => new CommandError("usage", `${source} ${problem}`, { cause }),
  );
}

function parse<T>(
  type: TextType<T>,
  text: string,
  toError: (problem: string, cause: unknown) => CommandError,
): T {
  try {
    return type.parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw toError(error.message, error);
  }
}
