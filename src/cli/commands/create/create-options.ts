/** The options of one `plantstore create`. */
import { quoteInput } from "../../../core/quote.ts";
import { UsageError } from "../../command-error.ts";
import type { Run } from "../../command.ts";
import type { Io } from "../../io.ts";
import { bulkRetryOption, createOptions, plantFlagList, plantOptions } from "../../options.ts";
import { readOptions, type Values } from "../../settings.ts";

/** The members of a plant as flags. */
export type PlantFlags = Values<typeof plantOptions>;

/** Source of plants: flags for one, or files and standard input for any number. */
type PlantSource =
  | { readonly from: "flags"; readonly flags: PlantFlags }
  /** At least one; `-` is standard input. */
  | { readonly from: "inputs"; readonly paths: readonly string[] };

/** Options for {@link create}. */
export interface CreateOptions extends Omit<Values<typeof createOptions>, "csv"> {
  readonly source: PlantSource;
  /** Retries of each plant, if there are several. */
  readonly bulkRetries: number;
}

/** Reads the options of a command line. @throws CommandError for an invalid option or combination */
export function readCreateOptions({ flags, operands, io }: Run): CreateOptions {
  const { csv, ...options } = readOptions(createOptions, flags, io);
  const { fromLine, rejectsPath, isStrict, isMany, tokenFile } = options;
  const plantFlags = readOptions(plantOptions, flags, io);
  const source = toPlantSource(plantFlags, operands, tokenFile === "-", io);
  const delimiter = options.delimiter ?? (csv ? "," : undefined);
  const forInputs = [fromLine, rejectsPath, delimiter, isStrict, isMany];
  if (source.from === "flags" && forInputs.some((value) => value !== undefined)) {
    throw new UsageError(
      `--csv, --delimiter, --strict, --many, --from-line and --rejects are for files and standard input, not for ${plantFlagList}`,
    );
  }
  return {
    ...options,
    source,
    delimiter,
    // A resumed run has many plants.
    isMany: isMany === true || fromLine !== undefined,
    bulkRetries: readOptions(bulkRetryOption, flags, io).retries,
  };
}

/**
 * Decides where the plants of a command line come from.
 *
 * @param paths operands; `-` is standard input
 * @param isTokenInStdin true if standard input is the token
 * @throws UsageError without a plant, or with both flags and a file
 */
function toPlantSource(
  flags: PlantFlags,
  paths: readonly string[],
  isTokenInStdin: boolean,
  io: Pick<Io, "stdin">,
): PlantSource {
  const hasFlags = Object.values(flags).some((flag) => flag !== undefined);
  if (hasFlags && paths.length > 0) {
    const file = paths.find((path) => path !== "-");
    const advice =
      file === undefined
        ? ""
        : ` ("${quoteInput(file)}" is read as a file: text with spaces needs quotation marks)`;
    throw new UsageError(`two plants: give either a file or the flags ${plantFlagList}${advice}`);
  }
  if (hasFlags) return { from: "flags", flags };
  const readsStdin = paths.length === 0 || paths.includes("-");
  if (readsStdin && isTokenInStdin) {
    throw new UsageError(
      "standard input is the token (--token-file -) and cannot be the plant too: give the plant as a file or with --id and --name",
    );
  }
  if (paths.length === 0 && io.stdin.isTTY) {
    throw new UsageError(
      "no plant: give it as flags (--id 1 --name fern), as a JSON file (plant.json), or on standard input (-)",
    );
  }
  if (paths.indexOf("-") !== paths.lastIndexOf("-")) {
    throw new UsageError("standard input (-) is given twice: leave one of them out");
  }
  return { from: "inputs", paths: paths.length === 0 ? ["-"] : paths };
}
