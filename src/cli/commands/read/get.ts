/** `plantstore get`: prints plants of a store by their ids. */
import type { Run } from "../../command.ts";
import { CommandError } from "../../command-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { plantId } from "../../option-types.ts";
import { getOptions } from "../../options.ts";
import { parseArgument, readOptions } from "../../settings.ts";
import { printRows } from "../../terminal/rows.ts";
import { plantRows } from "./plant-rows.ts";
import { explainMissing, readPlants } from "./read-plants.ts";

/**
 * Prints the plants, in the order of the ids on the command line.
 *
 * @returns the exit code
 * @throws CommandError for an invalid id or, after the other plants are printed, for unknown ones; or if the store cannot be
 *   read; OutputError
 */
export async function get(run: Run): Promise<number> {
  const { flags, operands, io } = run;
  const { store: url } = readOptions(getOptions, flags, io);
  const ids = operands.map((operand) => parseArgument("the id", operand, plantId));
  const missing: bigint[] = [];
  await readPlants(url, run, async (store) => {
    for (const id of ids) {
      const plant = await store.get(id);
      if (plant === undefined) missing.push(id);
      else await printRows([[plant]], plantRows, "json", io);
    }
  });
  if (missing.length === 0) return exitCodes.done.code;
  const [subject, noun] = missing.length === 1 ? ["no plant has", "id"] : ["no plants have", "ids"];
  throw new CommandError(
    "noSuchPlant",
    `${subject} the ${noun} ${missing.join(", ")}: "plantstore list" shows all plants`,
    { hints: await explainMissing(url, io) },
  );
}
