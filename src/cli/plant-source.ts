/** The plant to create: where the command line says it comes from, and the plant that is there. */
import { Refusal } from "../core/errors.ts";
import { JsonNumber, type JsonValue } from "../core/json.ts";
import { checkNewPlant, type NewPlant, parseNewPlant } from "../core/plant.ts";
import { CommandError } from "./command-error.ts";
import { InputTooLarge, readFileBytes, readInputBytes } from "./input.ts";
import type { Io } from "./io.ts";
import { maxPlantBytes } from "./setting-values.ts";

/** The members of a plant as flags. */
export interface PlantFlags {
  readonly id?: string;
  readonly name?: string;
  readonly tag?: string;
}

/** Where a plant comes from. */
export type PlantSource =
  | { readonly from: "flags"; readonly flags: PlantFlags }
  | { readonly from: "file"; readonly path: string }
  | { readonly from: "stdin" };

/**
 * Where the plant of a command line comes from.
 *
 * @param file the operand; `-` is the standard input
 * @param isTokenInStdin whether the standard input is the token already
 * @throws CommandError when there is no plant, or more than one
 */
export function toPlantSource(
  flags: PlantFlags,
  file: string | undefined,
  isTokenInStdin: boolean,
  io: Pick<Io, "stdin">,
): PlantSource {
  const hasFlags = [flags.id, flags.name, flags.tag].some((flag) => flag !== undefined);
  if (hasFlags && file !== undefined) {
    throw new CommandError(
      "usage",
      "two plants: give either a file or the flags --id, --name and --tag",
    );
  }
  if (hasFlags) return { from: "flags", flags };
  if (file !== undefined && file !== "-") return { from: "file", path: file };
  if (isTokenInStdin) {
    throw new CommandError(
      "usage",
      "standard input is the token (--token-file -) and can't be the plant too: give the plant as a file or with --id and --name",
    );
  }
  if (file === undefined && io.stdin.isTTY) {
    throw new CommandError(
      "usage",
      "no plant: give it as flags (--id 1 --name fern), as a JSON file (plant.json), or on standard input (-)",
    );
  }
  return { from: "stdin" };
}

/** What to call the place of a plant in a message; undefined for flags, which messages name one by one. */
export function describeSource(source: PlantSource): string | undefined {
  switch (source.from) {
    case "flags":
      return undefined;
    case "file":
      return source.path;
    case "stdin":
      return "standard input";
  }
}

/**
 * Reads the plant and checks it, by the server's rules.
 *
 * @throws Refusal that names every broken rule
 * @throws CommandError when the input can't be read
 * @throws the signal's reason, once it is aborted
 */
export async function readNewPlant(
  source: PlantSource,
  io: Io,
  signal: AbortSignal,
): Promise<NewPlant> {
  if (source.from === "flags") return toNewPlant(source.flags);
  try {
    const bytes =
      source.from === "file"
        ? await readFileBytes(source.path, maxPlantBytes, signal)
        : await readInputBytes(io.stdin, maxPlantBytes, signal);
    return parseNewPlant(bytes);
  } catch (error) {
    if (!(error instanceof InputTooLarge)) throw error;
    throw new Refusal(
      "bodyTooLarge",
      `the body has more than ${error.maxBytes} bytes, the most that a plant may have`,
    );
  }
}

function toNewPlant({ id, name, tag }: PlantFlags): NewPlant {
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
