/** What a setting is, and how its value is found: flag, environment, what was saved, default. */
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import * as values from "./setting-values.ts";

/** A value that a flag or an environment variable gives, as text. */
export interface Setting<T> {
  /** The flag and its placeholder, as help shows them. */
  readonly flags: string;
  /** The environment variable. */
  readonly variable: string;
  /** One line of help. */
  readonly help: string;
  /** What was saved, for when neither is given. */
  readonly saved?: (io: Io) => GivenText | undefined;
  /** What it is when there is nothing else. */
  readonly fallback: string | ((io: Io) => string);
  /** How help shows the fallback, where that is different. */
  readonly shownFallback?: string;
  /** Whether its flag may be given several times; their values are joined by spaces. */
  readonly isRepeatable?: true;
  /** @throws InvalidValue */
  readonly parse: (text: string) => T;
  /** A right value without what may be secret in it, for people to see. */
  readonly show?: (text: string) => string;
}

/** A text, and where it came from, as a message begins that complains of it. */
export interface GivenText {
  readonly text: string;
  readonly source: string;
}

/** Flags as they were given, by the name of their setting. */
export type Flags<Settings> = { readonly [Name in keyof Settings]?: string };

/**
 * The value of a setting: a flag wins over the environment, that over what was saved, and that over the default.
 *
 * @throws CommandError that names the source whose value is wrong
 */
export function resolve<T>(setting: Setting<T>, flag: string | undefined, io: Io): T {
  const { text, source } = findText(setting, flag, io);
  return parseValue(source, text, setting.parse);
}

/**
 * The value of a setting as text, and where it comes from: a flag wins over the environment, that over what was saved, and
 * that over the default.
 *
 * @throws CommandError when what was saved can't be read, or there is no home directory for the default
 */
export function findText(setting: Setting<unknown>, flag: string | undefined, io: Io): GivenText {
  const { flags, variable, saved, fallback } = setting;
  if (flag !== undefined) return { text: flag, source: flags.replace(/ .*/, "") };
  // An empty variable counts as none; an empty flag was meant.
  const value = io.env[variable];
  if (value) return { text: value, source: variable };
  const text = typeof fallback === "string" ? fallback : fallback(io);
  return saved?.(io) ?? { text, source: "the default" };
}

/**
 * Reads a value.
 *
 * @param source what to call it: its flag, its variable or its place on the command line
 * @throws CommandError that names the source when the value is wrong
 */
export function parseValue<T>(source: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof values.InvalidValue)) throw error;
    throw new CommandError("usage", `${source} ${error.message}`, { cause: error });
  }
}
