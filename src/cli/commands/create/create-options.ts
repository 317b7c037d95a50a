/** The options of one `plantstore create`. */
import { type PlantSource, toPlantSource } from "./plant-source.ts";
import { UsageError } from "../../command-error.ts";
import type { Run } from "../../command.ts";
import { bulkRetryOption, createOptions } from "../../options.ts";
import { readOptions, type Values } from "../../settings.ts";

/** Options for {@link create}. */
export interface CreateOptions {
  readonly source: PlantSource;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** File with certificates of trusted authorities. */
  readonly cacert: string | undefined;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** Retries of a single plant. */
  readonly retries: number;
  /** `-` is standard input. */
  readonly tokenFile: string | undefined;
  /** True to print requests and responses. */
  readonly isVerbose: boolean;
  /** True to print the command of curl, and to send nothing. */
  readonly printsCurl: boolean;
  readonly many: ManyOptions;
}

/** Options for reading, sending and reporting records. */
export interface ManyOptions {
  /** Character between the cells of a table; undefined for JSON. */
  readonly delimiter: string | undefined;
  /** True to reject records with unknown members. */
  readonly isStrict: boolean;
  /** Number of plants to send at once; at least 1. */
  readonly concurrency: number;
  /** Infinity: no limit. */
  readonly ratePerSecond: number;
  /** Retries of each plant. */
  readonly retries: number;
  /** True to print a line for each record, even for a single one. */
  readonly isMany: boolean;
  /** True to print a line for each record, even on a terminal. */
  readonly isJson: boolean;
  /** True to print only rejected and failed records. */
  readonly isQuiet: boolean;
  /** True to print only errors of usage. */
  readonly isSilent: boolean;
  /** True to stop at the first record that is not created. */
  readonly isFailFast: boolean;
  /** True to send nothing. */
  readonly isDryRun: boolean;
  /** Skips records of the first input before this line. Even 1 resumes an earlier run: the file of rejects is extended. */
  readonly fromLine: number | undefined;
  /** File for records that are not created. */
  readonly rejectsPath: string | undefined;
}

/** Reads the options of a command line. @throws CommandError for an invalid option or combination */
export function readCreateOptions({ flags, operands, io }: Run): CreateOptions {
  const options = readOptions(createOptions, flags, io);
  const { id, name, tag, tokenFile, fromLine, rejects } = options;
  const source = toPlantSource({ id, name, tag }, operands, tokenFile === "-", io);
  const many: ManyOptions = {
    delimiter: toDelimiter(options),
    isStrict: options.isStrict === true,
    concurrency: options.concurrency,
    ratePerSecond: options.ratePerSecond,
    ...readOptions(bulkRetryOption, flags, io),
    isMany: options.many === true || fromLine !== undefined,
    isJson: options.json === true,
    isQuiet: options.quiet === true || options.silent === true,
    isSilent: options.silent === true,
    isFailFast: options.failFast === true,
    isDryRun: options.dryRun === true,
    fromLine,
    rejectsPath: rejects,
  };
  const isForInputs =
    many.isMany || rejects !== undefined || many.delimiter !== undefined || many.isStrict;
  if (source.from === "flags" && isForInputs) {
    throw new UsageError(
      "--csv, --tsv, --delimiter, --strict, --many, --from-line and --rejects are for files and standard input, not for --id, --name and --tag",
    );
  }
  const { url: baseUrl, cacert, timeoutMs, retries } = options;
  const shown = { isVerbose: options.verbose === true, printsCurl: options.printCurl === true };
  return { source, baseUrl, cacert, timeoutMs, retries, tokenFile, many, ...shown };
}

function toDelimiter({ csv, tsv, delimiter }: Values<typeof createOptions>): string | undefined {
  if (tsv && (csv || delimiter !== undefined)) {
    throw new UsageError("--tsv excludes --csv and --delimiter: remove one of them");
  }
  return delimiter ?? (tsv ? "\t" : csv ? "," : undefined);
}
