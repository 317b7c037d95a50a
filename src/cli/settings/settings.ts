/** What a setting is, the settings of the commands that talk to a server or read a store, and what comes of them. */
import { describeStoreUrl } from "../../store/store-url.ts";
import { CommandError } from "../command-error.ts";
import { findConfigDirectoryIfAny, findDataDirectory } from "./directories.ts";
import type { Io } from "../io.ts";
import type { PlantFlags } from "../create/plant-source.ts";
import { readSavedSettings, toSettingsFile } from "./saved-settings.ts";
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
  /** @throws InvalidValue */
  readonly parse: (text: string) => T;
  /** How a value that is none of the wrong ones is shown, where a part of it may be secret. */
  readonly show?: (text: string) => string;
}

/** A text, and where it came from, as a message begins that complains of it. */
export interface GivenText {
  readonly text: string;
  readonly source: string;
}

/** Flags as they were given, by the name of their setting. */
export type Flags<Settings> = { readonly [Name in keyof Settings]?: string };

/** Where plants are kept. */
export const storeSetting = {
  flags: "--store <url>",
  variable: "PLANTSTORE_STORE",
  help: "where plants are kept: sqlite:PATH, postgres:// or memory:",
  fallback: (io: Io) => `sqlite:${findDataDirectory(io)}/plants.db`,
  shownFallback: "<data dir>/plants.db",
  parse: values.checkStoreUrl,
  show: describeStoreUrl,
} as const satisfies Setting<string>;

/** The settings of a command that talks to a server. */
export const clientSettings = {
  url: {
    flags: "--url <url>",
    variable: "PLANTSTORE_URL",
    help: "the plant store, with its base path if it has one",
    saved: findSavedUrl,
    fallback: "http://127.0.0.1:7526",
    shownFallback: "that of the last login, or http://127.0.0.1:7526",
    parse: values.parseBaseUrl,
  },
  timeout: {
    flags: "--timeout <seconds>",
    variable: "PLANTSTORE_TIMEOUT",
    help: "longest time that one attempt may take",
    fallback: "10",
    parse: values.parseSeconds,
  },
  retry: {
    flags: "--retry <n>",
    variable: "PLANTSTORE_RETRY",
    help: "attempts after the first, while the store is unavailable",
    fallback: "2",
    shownFallback: "2, of many plants 8",
    parse: values.parseCount,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The settings of `create` that are about many plants. */
export const manySettings = {
  concurrency: {
    flags: "--concurrency <n>",
    variable: "PLANTSTORE_CONCURRENCY",
    help: "plants that are sent at a time",
    fallback: "256",
    parse: values.parseConcurrency,
  },
  rate: {
    flags: "--rate <n>",
    variable: "PLANTSTORE_RATE",
    help: "the most plants to send in a second, or none",
    fallback: "none",
    parse: values.parseRate,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Many plants take long enough to see a server restarted. */
const manyRetries = { ...clientSettings.retry, fallback: "8" };

/** The settings of a command that reads a store. */
export const readerSettings = {
  store: { ...storeSetting, help: "where plants are kept: sqlite:PATH or postgres://" },
} as const satisfies Record<string, Setting<unknown>>;

/** How many plants `list` prints unless it is told. */
export const defaultListLimit = 100;

/** The flags of `create`. */
export type CreateFlags = Flags<typeof clientSettings> &
  Flags<typeof manySettings> &
  PlantFlags &
  RecordFlags & { readonly tokenFile?: string };

/** The flags of `create` for records of files and of the standard input. */
interface RecordFlags {
  readonly csv?: boolean;
  readonly tsv?: boolean;
  readonly many?: boolean;
  readonly quiet?: boolean;
  readonly failFast?: boolean;
  readonly fromLine?: string;
  readonly rejects?: string;
}

/** The flags of `login` and `logout`. */
export type LoginFlags = Flags<Pick<typeof clientSettings, "url" | "timeout">>;

/** The flags of `status`. */
export interface StatusFlags extends LoginFlags {
  readonly json?: boolean;
}

/** The flags of `doctor`. */
export interface DoctorFlags extends LoginFlags, ReaderFlags {
  readonly json?: boolean;
}

/** The flags of `openapi`. */
export interface OpenApiFlags {
  readonly url?: string;
  readonly yaml?: true;
}

/** The flags of a command that reads a store. */
export type ReaderFlags = Flags<typeof readerSettings>;

/** The flags of `list`. */
export interface ListFlags extends ReaderFlags {
  readonly limit?: string;
  readonly after?: string;
  readonly tag?: string;
}

/** How a server is reached. */
export interface ClientOptions {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
}

/** How plants are written: JSON in any layout, or a table with commas or tabs. */
export type InputFormat = "json" | "csv" | "tsv";

/** How many plants are created. */
export interface ManyOptions {
  readonly format: InputFormat;
  /** Plants that are sent at a time; at least 1. */
  readonly concurrency: number;
  /** Infinity: no bound. */
  readonly ratePerSecond: number;
  /** For each plant, attempts after the first. */
  readonly retries: number;
  /** Whether to print a line for each record, even if there is only one. */
  readonly isMany: boolean;
  /** Whether to print only what is not there. */
  readonly isQuiet: boolean;
  /** Whether to read no more after the first record that is not created. */
  readonly isFailFast: boolean;
  /** Records of the first input that begin before it are passed over. */
  readonly fromLine: number;
  /** The file for records that are not created. */
  readonly rejectsPath: string | undefined;
}

/** Where a token is tried. */
export type LoginOptions = Pick<ClientOptions, "baseUrl" | "timeoutMs">;

/**
 * How a server is reached: a flag wins over the environment, that over what was saved, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveClientOptions(flags: Flags<typeof clientSettings>, io: Io): ClientOptions {
  return {
    baseUrl: resolve(clientSettings.url, flags.url, io),
    timeoutMs: resolve(clientSettings.timeout, flags.timeout, io),
    retries: resolve(clientSettings.retry, flags.retry, io),
  };
}

/**
 * How many plants are created: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveManyOptions(flags: CreateFlags, io: Io): ManyOptions {
  const { many, quiet, failFast, fromLine, rejects } = flags;
  return {
    format: toFormat(flags),
    concurrency: resolve(manySettings.concurrency, flags.concurrency, io),
    ratePerSecond: resolve(manySettings.rate, flags.rate, io),
    retries: resolve(manyRetries, flags.retry, io),
    isMany: many === true || fromLine !== undefined,
    isQuiet: quiet === true,
    isFailFast: failFast === true,
    fromLine: fromLine === undefined ? 1 : parseValue("--from-line", fromLine, values.parseLine),
    rejectsPath: rejects,
  };
}

function toFormat({ csv, tsv }: CreateFlags): InputFormat {
  if (csv && tsv) throw new CommandError("usage", "either --csv or --tsv: leave one of them out");
  if (csv) return "csv";
  return tsv ? "tsv" : "json";
}

/**
 * Which server a token is tried at: a flag wins over the environment, that over what was saved, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveLoginOptions(flags: LoginFlags, io: Io): LoginOptions {
  return {
    baseUrl: resolve(clientSettings.url, flags.url, io),
    timeoutMs: resolve(clientSettings.timeout, flags.timeout, io),
  };
}

/**
 * The URL of a plant store, without a slash at the end: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveBaseUrl(flags: OpenApiFlags, io: Io): string {
  return resolve(clientSettings.url, flags.url, io);
}

/**
 * The URL of the store to read: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveStoreUrl(flags: ReaderFlags, io: Io): string {
  return resolve(readerSettings.store, flags.store, io);
}

/** The URL of the plant store, and where it came from. */
export interface ResolvedUrl {
  readonly baseUrl: string;
  /** As `--url`, or `the default`. */
  readonly source: string;
}

/**
 * Which plant store is meant: a flag wins over the environment, that over the last login, and that over the default.
 *
 * @throws CommandError that names the source whose value is wrong
 */
export function resolveUrl(flag: string | undefined, io: Io): ResolvedUrl {
  const { source } = findText(clientSettings.url, flag, io);
  return { baseUrl: resolve(clientSettings.url, flag, io), source };
}

function findSavedUrl(io: Io): GivenText | undefined {
  const directory = findConfigDirectoryIfAny(io);
  if (directory === undefined) return undefined;
  const { url } = readSavedSettings(directory);
  return url === undefined
    ? undefined
    : { text: url, source: `the url in ${toSettingsFile(directory)}` };
}

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
