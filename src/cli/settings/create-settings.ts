/** The settings of `create`: beside how the server is reached, where plants come from and how many are sent. */
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";
import type { PlantFlags } from "../create/plant-source.ts";
import * as values from "./setting-values.ts";
import { type Setting, type Flags, resolve, parseValue } from "./setting.ts";
import { clientSettings } from "./client-settings.ts";

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

/** The options of `create` that no variable can give, each with its help, below the headings in that. */
export const createOptions: readonly (readonly [
  heading: string,
  options: readonly (readonly [flags: string, help: string])[],
])[] = [
  [
    "Plant:",
    [
      ["--id <integer>", "identification number, -2^63 to 2^63-1"],
      ["--name <text>", "name"],
      ["--tag <text>", "type of the plant"],
    ],
  ],
  [
    "Input:",
    [
      ["--csv", "the input is a table; its first row names the columns"],
      ["--tsv", "the same, with tabs between the cells"],
      ["--from-line <n>", "pass over what begins before line n"],
      ["--fail-fast", "read no more once something was not created"],
    ],
  ],
  [
    "Output:",
    [
      ["--many", "print a line for each plant, even if there is only one"],
      ["-q, --quiet", "print only what was not created"],
      ["--rejects <file>", "file for what was not created, as it stood"],
    ],
  ],
  ["Sending:", [["--token-file <file>", "file with the token; - is standard input"]]],
];

/** Many plants take long enough to see a server restarted. */
const manyRetries = { ...clientSettings.retry, fallback: "8" };

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
  /** Given when an earlier run is continued, be it with 1: records of the first input that begin before it are passed over. */
  readonly fromLine: number | undefined;
  /** The file for records that are not created. */
  readonly rejectsPath: string | undefined;
}

/**
 * How many plants are created: a flag wins over the environment, and that over the default.
 *
 * @throws CommandError that names the flag or the variable whose value is wrong
 */
export function resolveManyOptions(flags: CreateFlags, io: Io): ManyOptions {
  const { many, quiet, failFast, fromLine, rejects } = flags;
  if (rejects === "-") {
    throw new CommandError(
      "usage",
      "--rejects is -: it must be a file, for stdout has the results",
    );
  }
  if (rejects === "") throw new CommandError("usage", "--rejects is empty: it must be a file");
  return {
    format: toFormat(flags),
    concurrency: resolve(manySettings.concurrency, flags.concurrency, io),
    ratePerSecond: resolve(manySettings.rate, flags.rate, io),
    retries: resolve(manyRetries, flags.retry, io),
    isMany: many === true || fromLine !== undefined,
    isQuiet: quiet === true,
    isFailFast: failFast === true,
    fromLine: parseFromLine(fromLine),
    rejectsPath: rejects,
  };
}

function parseFromLine(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseValue("--from-line", text, values.parseLine);
}

function toFormat({ csv, tsv }: CreateFlags): InputFormat {
  if (csv && tsv) throw new CommandError("usage", "either --csv or --tsv: leave one of them out");
  if (csv) return "csv";
  return tsv ? "tsv" : "json";
}
