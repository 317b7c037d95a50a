/** The plant to create: where the command line says it comes from, and the plant that is there. */
import { JsonNumber, type JsonValue } from "../../core/json.ts";
import { checkNewPlant, type NewPlant } from "../../core/plant.ts";
import { quoteInput } from "../../core/quote.ts";
import { CommandError } from "../command-error.ts";
import type { Io } from "../io.ts";

/** The members of a plant as flags. */
export interface PlantFlags {
  readonly id?: string;
  readonly name?: string;
  readonly tag?: string;
}

/** Where plants come from: one from flags, or any number from files and the standard input. */
export type PlantSource =
  | { readonly from: "flags"; readonly flags: PlantFlags }
  /** At least one; `-` is the standard input. */
  | { readonly from: "inputs"; readonly paths: readonly string[] };

/**
 * Where the plants of a command line come from.
 *
 * @param paths the operands; `-` is the standard input
 * @param isTokenInStdin whether the standard input is the token already
 * @throws CommandError when there is no plant, or when it is not clear which one
 */
export function toPlantSource(
  flags: PlantFlags,
  paths: readonly string[],
  isTokenInStdin: boolean,
  io: Pick<Io, "stdin">,
): PlantSource {
  const hasFlags = [flags.id, flags.name, flags.tag].some((flag) => flag !== undefined);
  if (hasFlags && paths.length > 0) {
    const doubt = describeDoubt(flags, paths);
    throw new CommandError(
      "usage",
      `two plants: give either a file or the flags --id, --name and --tag${doubt}`,
    );
  }
  if (hasFlags) return { from: "flags", flags };
  const readsStdin = paths.length === 0 || paths.includes("-");
  if (readsStdin && isTokenInStdin) {
    throw new CommandError(
      "usage",
      "standard input is the token (--token-file -) and can't be the plant too: give the plant as a file or with --id and --name",
    );
  }
  if (paths.length === 0 && io.stdin.isTTY) {
    throw new CommandError(
      "usage",
      "no plant: give it as flags (--id 1 --name fern), as a JSON file (plant.json), or on standard input (-)",
    );
  }
  if (paths.indexOf("-") !== paths.lastIndexOf("-")) {
    throw new CommandError("usage", "standard input (-) is given twice: leave one of them out");
  }
  return { from: "inputs", paths: paths.length === 0 ? ["-"] : paths };
}

/** What may have been meant where flags are given and a file as well. */
function describeDoubt({ id, name, tag }: PlantFlags, paths: readonly string[]): string {
  const file = paths.find((path) => path !== "-");
  if (file === undefined) return "";
  const greedy = Object.entries({ id, name, tag }).find(([, value]) => isPlantFlag(value));
  const cause =
    greedy === undefined
      ? "text with spaces needs quotation marks"
      : `--${greedy[0]} has no value, and took ${greedy[1]} for it`;
  return ` ("${quoteInput(file)}" is taken for a file: ${cause})`;
}

/** That is a name and a tag like any other, and only a guess. */
function isPlantFlag(value: string | undefined): boolean {
  return value !== undefined && /^--(?:id|name|tag)$/.test(value);
}

/**
 * The plant that flags describe.
 *
 * @throws RequestError that names every broken rule
 */
export function toNewPlant({ id, name, tag }: PlantFlags): NewPlant {
  const members = new Map<string, JsonValue>();
  // As a number, however it is written: its text is what a JSON number would have.
  if (id !== undefined) members.set("id", new JsonNumber(id === "" ? "empty" : id));
  if (name !== undefined) members.set("name", name);
  if (tag !== undefined) members.set("tag", tag);

  const problems = [...members]
    .filter(([, value]) => typeof value === "string" && !value.isWellFormed())
    .map(([member]) => ({
      kind: "loneSurrogate" as const,
      message: `--${member} holds a lone surrogate: write the pair, or leave it out`,
    }));
  return checkNewPlant(members, problems, (member) => `--${member}`);
}
