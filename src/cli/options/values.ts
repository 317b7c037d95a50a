/** Finds the values of options: flag, then environment variable, then saved setting, then default. */
import { attempt } from "../../core/attempt.ts";
import { InvalidValue, toShellWord } from "../../core/messages.ts";
import type { OptionType } from "../../library/option-types.ts";
import { CommandError } from "../command-error.ts";
import {
  assertEnvironmentPath,
  findConfigDirectoryIfAny,
  readSavedSettings,
  type SavedSettings,
  toSettingsFile,
} from "../config/saved-settings.ts";
import type { Io } from "../io.ts";
import { type Option, type Options, toLongFlag, urlOption } from "./remote.ts";

/** The flags of a command line, by the names of their options. A flag without a value is `1`. */
export type Flags = Readonly<Record<string, string | undefined>>;

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
  /** The command that saved it. */
  readonly savedBy?: keyof SavedSettings;
}

/** How messages name the commands that save settings. */
export const savingCommands: Readonly<Record<keyof SavedSettings, string>> = {
  login: "last login",
  serve: "first serve",
};

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

export function readOption<T>(option: Option<T>, flag: string | undefined, io: Io): Setting<T> {
  const { env = "", type } = option;
  if (flag !== undefined) {
    const source = toLongFlag(option.flags);
    return { value: parseText(source, flag, type), source };
  }
  // An empty variable counts as unset; an empty flag does not.
  const variable = readVariable(option, io);
  if (variable !== undefined) {
    // A flag may have a relative path, because a shell has read it.
    const path = option.isFile ? variable : option.findPath?.(variable);
    if (path !== undefined && path !== "-") assertEnvironmentPath(env, path, io);
    return { value: parseText(env, variable, type), source: env };
  }
  const fallback =
    typeof option.default === "function" ? (option.default as (io: Io) => T)(io) : option.default;
  return readSavedSetting(option, io) ?? { value: fallback, source: "the default" };
}

/** Reads the variable of an option. @returns undefined if it is unset or empty */
export function readVariable({ env = "" }: Option<unknown>, io: Io): string | undefined {
  return io.env[env] || undefined;
}

/** Reads the URL of commands without `--url`; undefined for invalid settings. */
export function readDefaultUrl(io: Io): Setting<string> | undefined {
  return attempt(() => readOption(urlOption.url, undefined, io));
}

function readSavedSetting<T>({ isSaved, type }: Option<T>, io: Io): Setting<T> | undefined {
  const directory = isSaved ? findConfigDirectoryIfAny(io) : undefined;
  if (directory === undefined) return undefined;
  const settings = readSavedSettings(directory);
  const savedBy = settings.login === undefined ? "serve" : "login";
  const text = settings[savedBy];
  if (text === undefined) return undefined;
  const source = `the URL of the ${savingCommands[savedBy]} in ${toSettingsFile(directory)}`;
  return { value: parseText(source, text, type), source, savedBy };
}

export function parseText<T>(source: string, text: string, type: OptionType<T>): T {
  try {
    return type.parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new CommandError("usage", `${source} ${error.message}`, { cause: error });
  }
}

/** Returns a command line with flags, for a shell. @param words the command */
export function toCommandLine(words: string, options: Options, flags: Flags): string {
  const parts = Object.entries(options).flatMap(([name, row]) => {
    const value = flags[name];
    if (value === undefined) return [];
    const flag = toLongFlag(row.flags);
    if (!row.flags.endsWith(">")) return [flag];
    // A negative number would be a flag.
    return [
      value.startsWith("-") ? `${flag}=${toShellWord(value)}` : `${flag} ${toShellWord(value)}`,
    ];
  });
  return ["plantstore", words, ...parts].join(" ");
}
