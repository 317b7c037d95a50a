/**
 * The table of options. The command line, help, the manual page, completion and `status` are made from it. The rows of
 * `serve` and of commands that open a store are in `local.ts`, so that other commands do not load them.
 */
import { operationSets } from "../../core/contract.ts";
import type { NewPlant } from "../../core/plant.ts";
import { attemptOptions as client, createManyOptions } from "../../library/client-options.ts";
import * as types from "../../library/option-types.ts";
import type { Io } from "../io.ts";

/** A row of the table. */
export interface Option<T> {
  /** The flag with its placeholder, as in help. */
  readonly flags: string;
  readonly env?: string;
  /** A short phrase. */
  readonly help: string;
  readonly type: types.OptionType<T>;
  /** Absent for an option without a value unless it is given. */
  readonly default?: T | ((io: Io) => T);
  /** The default in help, if it depends on something. */
  readonly shownDefault?: string;
  /** True for the URL of a server: one that `login` or `serve` saved comes before the default. */
  readonly isSaved?: true;
  /** True if the flag may be repeated; its values are joined with {@link types.valueSeparator}. */
  readonly isRepeatable?: true;
  /** Flags that exclude it, without their dashes. */
  readonly conflicts?: readonly string[];
  /** True if the value is a path of a file, which the shell completes. */
  readonly isFile?: true;
  /** Finds the path of a file in a text, for an option whose value may be one; undefined if it is none. */
  readonly findPath?: (text: string) => string | undefined;
  /** The heading in help of commands with many options. */
  readonly group?: string;
  /** True if few need it: only the topic `configuration` and the manual page list it, not help or completion. */
  readonly isHidden?: true;
  /** `inputs`: an option of plants in files and standard input, which a plant of flags rejects. */
  readonly for?: "inputs";
}

export type Options = Readonly<Record<string, Option<unknown>>>;

/** A row of an option without an environment variable. */
export const option = <Row extends object>(flags: string, help: string, row: Row) => ({
  ...row,
  flags,
  help,
});

/** A row of a switch: a flag without a value. */
export const toggleFlag = (
  flags: string,
  help: string,
  row: Pick<Option<true>, "group" | "for" | "conflicts"> = {},
) => option(flags, help, { ...row, type: types.toggle });

/** A row of a setting. Its environment variable is named after its flag. */
export const setting = <Row extends object>(flags: string, help: string, row: Row) => ({
  ...option(flags, help, row),
  env: `PLANTSTORE_${toLongFlag(flags).slice("--".length).replaceAll("-", "_").toUpperCase()}`,
});

/** The long flag of `-q, --quiet` or `--port <port>`. */
export function toLongFlag(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

const plant = { group: "Plant:" } as const;
const input = { group: "Input:", for: "inputs" } as const;
const output = { group: "Output:" } as const;
const sending = { group: "Sending:" } as const;
/** A path of a file. */
export const file = { type: types.optional(types.text), default: undefined, isFile: true } as const;

/** The URL of a server, for the commands that send requests. */
export const urlOption = {
  url: setting("--url <url>", "URL of the plant store, with its base path", {
    ...sending,
    type: types.baseUrl,
    default: "http://127.0.0.1:7526",
    shownDefault: "saved URL, or http://127.0.0.1:7526",
    isSaved: true,
  }),
} as const satisfies Options;

/** Options of commands that send requests: the server, and how to connect to it. */
export const requestOptions = {
  ...urlOption,
  cacert: setting("--cacert <file>", "CA certificates, in PEM", {
    ...sending,
    // An empty text selects the authorities of Node.
    type: { ...types.text, format: (path: string) => path || "none" },
    isFile: true,
    shownDefault: "those saved at login",
  }),
  timeoutMs: setting("--timeout <time>", "Maximum time for each attempt", {
    ...sending,
    ...client.timeoutMs,
  }),
  isVerbose: toggleFlag(
    "-v, --verbose",
    "Print each request and response on stderr, one at a time",
    sending,
  ),
} as const satisfies Options;

/** Options of `create` for a single plant, by the names of its members. */
export const plantOptions = {
  id: option("--id <integer>", "Identification number, -2^63 to 2^63-1", {
    ...plant,
    type: types.text,
  }),
  name: option("--name <text>", "Name", { ...plant, type: types.text }),
  tag: option("--tag <text>", "Type of the plant", { ...plant, type: types.text }),
} as const satisfies Record<keyof NewPlant, Option<string>>;

/** The flags of a single plant, as messages name them. */
export const plantFlagList = Object.values(plantOptions)
  .map(({ flags }) => toLongFlag(flags))
  .join("/");

/** The retries of several plants, which take long enough to see a server restart. */
const bulkRetries = 8;

export const createOptions = {
  csv: toggleFlag("--csv", "Every input is CSV, whatever its name", input),
  delimiter: option(
    "--delimiter <char>",
    "Every input is a table with this delimiter; tab for TSV",
    { ...input, type: types.delimiter, isHidden: true },
  ),
  isStrict: toggleFlag("--strict", "Reject records with unknown members", input),
  fromLine: option("--from-line <n>", "Skip records before line n (resumes a run)", {
    ...input,
    type: types.line,
  }),
  isFailFast: toggleFlag("--fail-fast", "Stop at the first rejected or failed record", input),
  json: toggleFlag("--json", "Print a line of JSON for each record, always", output),
  isQuiet: toggleFlag("-q, --quiet", "Print only rejected and failed records", output),
  rejectsPath: option("--rejects <file>", "File for rejected and failed records, unchanged", {
    ...output,
    for: "inputs",
    type: types.outputFile,
    isFile: true,
  }),
  isDryRun: toggleFlag("--dry-run", "Check the plants, and send nothing", sending),
  tokenFile: option("--token-file <file>", "File that contains the token; - is standard input", {
    ...sending,
    type: types.text,
    isFile: true,
  }),
  ...requestOptions,
  retries: setting("--retry <n>", "Number of retries", {
    ...sending,
    ...client.retries,
    shownDefault: `${client.retries.default}, or ${bulkRetries} for several plants`,
  }),
  concurrency: setting("--concurrency <n>", "Number of plants to send at once", {
    ...sending,
    ...createManyOptions.concurrency,
    isHidden: true,
  }),
} as const satisfies Options;

/** `--retry` for several plants: inputs, lists and ids. */
export const bulkRetryOption = {
  retries: { ...createOptions.retries, default: bulkRetries },
} as const satisfies Options;

export const jsonOption = {
  json: toggleFlag("--json", "Print JSON even on a terminal"),
} as const satisfies Options;

export const explainOptions = {
  json: toggleFlag("--json", "Print the errors as JSON, one per line"),
} as const satisfies Options;

export const pingOptions = {
  waitMs: option("--wait <time>", "Maximum time to wait for the server: 500ms, 30s or 2m", {
    type: types.timeLimit({ min: 0, max: types.msPerUnit.d }),
    default: 0,
    shownDefault: "one attempt",
  }),
  json: toggleFlag("--json", "Print the result as JSON"),
  ...requestOptions,
} as const satisfies Options;

export const loginOptions = {
  ...requestOptions,
  tokenFile: createOptions.tokenFile,
} as const satisfies Options;

/** Without variables and the last login, so that the output does not depend on them. */
export const openApiOptions = {
  publicUrl: option("--public-url <url>", "URL that clients use", {
    type: types.baseUrl,
    default: urlOption.url.default,
  }),
  operations: option("--operations <set>", "Operations to describe: create or all", {
    type: types.choice(operationSets),
    default: "create",
  }),
} as const satisfies Options;

/** Flags of every command, with their help. */
export const commonFlags = [
  ["--color", "Use colour even without a terminal"],
  ["--no-color", "Use no colour, even on a terminal"],
  ["-h, --help", "Print this help"],
] as const;

export const versionFlag = ["-V, --version", "Print the version"] as const;

/** Environment variables that are not settings. */
export const otherVariables = {
  PLANTSTORE_TOKEN: "Token to send",
  PLANTSTORE_TOKEN_FILE: "File that contains the token",
  PLANTSTORE_CONFIG_DIR: "Directory of saved tokens and settings",
  PLANTSTORE_DATA_DIR: 'Directory of the default store; "status" shows it',
  LISTEN_FDS: "1 if systemd passes the socket to listen on",
  TRACEPARENT: "Trace that the requests belong to (W3C Trace Context)",
} as const;
