/** `plantstore create`: creates plants from flags, files or standard input. */
import type { RequestError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { NewPlant } from "../../../core/plant.ts";
import { toMemberValue } from "../../../core/plant-schema.ts";
import { validateNewPlant } from "../../../core/read-body.ts";
import { unpairedSurrogate } from "../../../core/words.ts";
import type { Run } from "../../command.ts";
import { readAuthorities } from "../../server-access.ts";
import { createOne } from "./create-one.ts";
import { CreateRun, type PlantFlags, readCreateOptions } from "./create-run.ts";

/**
 * Creates the plants.
 *
 * @returns the exit code, once the results are printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function create(run: Run): Promise<number> {
  const options = readCreateOptions(run);
  const { source } = options;
  const createRun = new CreateRun(options, await readAuthorities(options.cacert), run);
  try {
    if (source.from === "flags") return await createOne(toNewPlant(source.flags), createRun);
    // Most of the code.
    const { createFromInputs } = await import("./from-inputs.ts");
    return await createFromInputs(source.paths, createRun);
  } finally {
    createRun.release();
  }
}

/**
 * Reads a plant from flags.
 *
 * @returns the plant, or a RequestError that names every broken rule
 */
function toNewPlant(flags: PlantFlags): NewPlant | RequestError {
  const members = new Map<string, JsonValue>();
  for (const [member, text] of Object.entries(flags)) {
    if (text !== undefined) members.set(member, toMemberValue(member, text));
  }

  const problems = [...members]
    .filter(([, value]) => typeof value === "string" && !value.isWellFormed())
    .map(([member]) => ({
      kind: "loneSurrogate" as const,
      message: `--${member} ${unpairedSurrogate}`,
    }));
  return validateNewPlant(members, problems, (member) => `--${member}`);
}
