/** `plantstore create`: creates plants from flags, files or standard input. */
import type { RequestError } from "../../../core/errors.ts";
import { JsonNumber, type JsonValue, unpairedSurrogate } from "../../../core/json.ts";
import { type NewPlant, validateNewPlant } from "../../../core/plant.ts";
import type { Run } from "../../command.ts";
import { readAuthorities } from "../../server-access.ts";
import { createOne } from "./create-one.ts";
import { type CreateRun, type PlantFlags, readCreateOptions } from "./create-options.ts";
import { toStopError } from "./request.ts";

/**
 * Creates the plants.
 *
 * @returns the exit code, once the results are printed
 * @throws CommandError, UnavailableError, NotAPlantStoreError, OutputError
 */
export async function create(run: Run): Promise<number> {
  const { io, terminal } = run;
  const options = readCreateOptions(run);
  const { source } = options;
  const cutOff = new AbortController();
  const ca = await readAuthorities(options.cacert);
  const createRun: CreateRun = { ca, options, io, terminal, cutOff, isSent: false };
  if (source.from === "flags") return createFromFlags(source.flags, createRun);
  // Most of the code.
  const { createFromInputs } = await import("./from-inputs.ts");
  return createFromInputs(source.paths, createRun);
}

async function createFromFlags(flags: PlantFlags, run: CreateRun): Promise<number> {
  const { io, cutOff } = run;
  const releaseSignals = io.onSignal((name) => cutOff.abort(toStopError(name, run.isSent)));
  try {
    return await createOne(toNewPlant(flags), run);
  } finally {
    releaseSignals();
  }
}

/**
 * Reads a plant from flags.
 *
 * @returns the plant, or a RequestError that names every broken rule
 */
function toNewPlant({ id, name, tag }: PlantFlags): NewPlant | RequestError {
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
