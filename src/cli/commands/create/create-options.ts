/** The options of one `plantstore create`. */
import { type PlantSource, toPlantSource } from "./plant-source.ts";
import { UsageError } from "../../command-error.ts";
import type { Run } from "../../command.ts";
import { bulkRetryOption, createOptions } from "../../options.ts";
import { readOptions, type Values } from "../../settings.ts";

type Settings = Values<typeof createOptions>;

/** Options for {@link create}. */
export interface CreateOptions extends Omit<Settings, "id" | "name" | "tag" | "csv" | "tsv"> {
  readonly source: PlantSource;
  /** Retries of each plant, if there are several. */
  readonly bulkRetries: number;
}

/** Reads the options of a command line. @throws CommandError for an invalid option or combination */
export function readCreateOptions({ flags, operands, io }: Run): CreateOptions {
  const { id, name, tag, csv, tsv, ...options } = readOptions(createOptions, flags, io);
  const { fromLine, rejectsPath, isStrict, isMany, isQuiet, isSilent, tokenFile } = options;
  const source = toPlantSource({ id, name, tag }, operands, tokenFile === "-", io);
  if (tsv && (csv || options.delimiter !== undefined)) {
    throw new UsageError("--tsv excludes --csv and --delimiter: remove one of them");
  }
  const delimiter = options.delimiter ?? (tsv ? "\t" : csv ? "," : undefined);
  const forInputs = [fromLine, rejectsPath, delimiter, isStrict, isMany];
  if (source.from === "flags" && forInputs.some((value) => value !== undefined)) {
    throw new UsageError(
      "--csv, --tsv, --delimiter, --strict, --many, --from-line and --rejects are for files and standard input, not for --id, --name and --tag",
    );
  }
  return {
    ...options,
    source,
    delimiter,
    // A resumed run has many plants.
    isMany: isMany === true || fromLine !== undefined,
    isQuiet: isQuiet ?? isSilent,
    bulkRetries: readOptions(bulkRetryOption, flags, io).retries,
  };
}
