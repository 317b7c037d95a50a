/** Decides where the plants of a command line come from, and reads a plant from flags. */
import type { RequestError } from "../../../core/errors.ts";
import { JsonNumber, type JsonValue, unpairedSurrogate } from "../../../core/json.ts";
import { type NewPlant, validateNewPlant } from "../../../core/plant.ts";
import { quoteInput } from "../../../core/quote.ts";
import { UsageError } from "../../command-error.ts";
import type { Io } from "../../io.ts";

/** The members of a plant as flags. */
export interface PlantFlags {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly tag: string | undefined;
}

/** Source of plants: flags for one, or files and standard input for any number. */
export type PlantSource =
  | { readonly from: "flags"; readonly flags: PlantFlags }
  /** At least one; `-` is standard input. */
  | { readonly from: "inputs"; readonly paths: readonly string[] };

/**
 * Decides where the plants of a command line come from.
 *
 * @param paths operands; `-` is standard input
 * @param isTokenInStdin true if standard input is the token
 * @throws UsageError without a plant, or with both flags and a file
 */
export function toPlantSource(
  flags: PlantFlags,
  paths: readonly string[],
  isTokenInStdin: boolean,
  io: Pick<Io, "stdin">,
): PlantSource {
  const hasFlags = [flags.id, flags.name, flags.tag].some((flag) => flag !== undefined);
  if (hasFlags && paths.length > 0) {
    const file = paths.find((path) => path !== "-");
    const advice =
      file === undefined
        ? ""
        : ` ("${quoteInput(file)}" is taken for a file: text with spaces needs quotation marks)`;
    throw new UsageError(
      `two plants: give either a file or the flags --id, --name and --tag${advice}`,
    );
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

/**
 * Reads a plant from flags.
 *
 * @returns the plant, or a RequestError that names every broken rule
 */
export function toNewPlant({ id, name, tag }: PlantFlags): NewPlant | RequestError {
  const members = new Map<string, JsonValue>();
  // The text of an id is checked by the rules for JSON numbers.
  if (id !== undefined) members.set("id", new JsonNumber(id === "" ? "empty" : id));
  if (name !== undefined) members.set("name", name);
  if (tag !== undefined) members.set("tag", tag);

  const problems = [...members]
    .filter(([, value]) => typeof value === "string" && !value.isWellFormed())
    .map(([member]) => ({
      kind: "loneSurrogate" as const,
      message: `--${member} ${unpairedSurrogate}`,
    }));
  return validateNewPlant(members, problems, (member) => `--${member}`);
}
